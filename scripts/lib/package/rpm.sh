# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RPM packages, with the paths of the distribution that they are made on.

package_rpm()
{
	local root=$scratch/rpm
	command -v rpmbuild >/dev/null || die "scripts/package rpm needs rpmbuild, of the package rpm-build (in Debian: rpm)"
	make -C "$repo" --no-print-directory tools userlib
	rm -f "$out"/*.rpm
	dkms_sources "$root/usr/src/sroce-$upstream"
	install_part tools "$root" --prefix /usr
	mkdir -p "$root/etc/sroce.d"
	install_part userlib "$root"
	install -Dm 755 "$repo/scripts/lib/provider.sh" "$root/usr/share/libsroce/provider.sh"
	(cd "$root" && find . -path '*/libsroce*' \( -type d -printf '%%dir /%P\n' -o -printf '/%P\n' \)) >"$scratch/libsroce.files"
	licenses sroce "$files/sroce.copyright"
	licenses sroce-dkms
	licenses libsroce
	rpmbuild --quiet -bb --define "_topdir $scratch/rpmbuild" --define "_rpmdir $out" --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		--define "staged $root" --define "descriptions $files" --define "files_of_libsroce $scratch/libsroce.files" \
		--define "sroce_version $upstream" --define "sroce_release ${revision:-1}" "$files/sroce.spec"
}

# The licences of a package, and the notices of others' code in it
licenses() # PACKAGE FILE...
{
	mkdir -p "$root/usr/share/licenses/$1"
	cp "$repo"/LICENSES/{GPL-2.0,Linux-OpenIB} "${@:2}" "$root/usr/share/licenses/$1/"
}
