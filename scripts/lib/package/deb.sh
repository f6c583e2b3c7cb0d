# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Debian packages. dpkg-deb makes them of a folder, without debhelper.
files=$repo/scripts/lib/package

package_deb()
{
	command -v dpkg-deb >/dev/null || die "scripts/package deb needs dpkg-deb, of a Debian system"
	make -C "$repo" --no-print-directory tools userlib
	rm -f "$out"/*.deb
	deb_dkms
	deb_tool
	deb_provider
}

# The module's sources, with the commands that build them.
dkms_sources() # FOLDER
{
	mkdir -p "$1"
	cp -r "$repo"/{Kbuild,LICENSES} "$1"
	find "$repo/kernel" -name '*.[chS]' -o -name '*.sh' | while read -r file; do
		install -Dm 644 "$file" "$1/${file#"$repo/"}"
	done
	sed "s/@VERSION@/$upstream/" "$files/dkms.conf" >"$1/dkms.conf"
}

# A component of "cmake --install" leaves the list of make uninstall alone. Unspecified has all files.
install_part() # PART FOLDER OPTION...
{
	DESTDIR=$2 cmake --install "$repo/build/$1" --component Unspecified --strip "${@:3}"
}

deb_dkms()
{
	local root=$scratch/sroce-dkms
	dkms_sources "$root/usr/src/sroce-$upstream"
	add_scripts "$root" sroce-dkms postinst prerm
	# Without openssl, DKMS signs no module, and Secure Boot needs a signature.
	recommends=openssl build_deb "$root" sroce-dkms all "dkms" "RDMA over Converged Ethernet: the kernel module, by DKMS"
}

deb_tool()
{
	local root=$scratch/sroce architecture libraries
	install_part tools "$root" --prefix /usr
	mkdir -p "$root/etc/sroce.d" "$root/usr/share/zsh/vendor-completions"
	mv "$root/usr/share/zsh/site-functions/_sroce" "$root/usr/share/zsh/vendor-completions/"
	rmdir "$root/usr/share/zsh/site-functions"
	gzip -9n "$root/usr/share/man/man8/sroce.8"
	add_scripts "$root" sroce postrm
	architecture=$(dpkg --print-architecture)
	libraries=$(libraries_of "$root/usr/sbin/sroce")
	recommends=sroce-dkms build_deb "$root" sroce "$architecture" "$libraries" \
		"RDMA over Converged Ethernet: the command that adds devices"
}

deb_provider()
{
	local root=$scratch/libsroce architecture libraries
	install_part userlib "$root"
	install -Dm 755 "$repo/scripts/lib/provider.sh" "$root/usr/share/libsroce/provider.sh"
	add_scripts "$root" libsroce postinst prerm triggers
	architecture=$(dpkg --print-architecture)
	libraries=$(libraries_of "$root"/usr/lib/*/libibverbs/libsroce.so)
	build_deb "$root" libsroce "$architecture" "$libraries, libibverbs1 (>= 36), ibverbs-providers" \
		"RDMA over Converged Ethernet: native mode of programs"
}

# The packages with the shared libraries that a program needs.
libraries_of() # PROGRAM
{
	mkdir -p "$scratch/shlibs/debian"
	printf 'Source: sroce\n\nPackage: sroce\nArchitecture: any\n' >"$scratch/shlibs/debian/control"
	local depends
	if ! depends=$(cd "$scratch/shlibs" && dpkg-shlibdeps -O "$1" 2>log | sed -n 's/^shlibs:Depends=//p') || [[ ! $depends ]]; then
		die "dpkg-shlibdeps does not know the libraries of $1: $(<"$scratch/shlibs/log")"
	fi
	echo "$depends"
}

# The scripts of a package that dpkg runs, with the version.
add_scripts() # ROOT PACKAGE NAME...
{
	local root=$1 package=$2 name
	shift 2
	mkdir -p "$root/DEBIAN"
	for name; do
		sed "s/@VERSION@/$upstream/" "$files/$package.$name" >"$root/DEBIAN/$name"
		[[ $name == triggers ]] || chmod 755 "$root/DEBIAN/$name"
	done
}

# The licences of a package, and the notices of others' code in it
copyright() # PACKAGE
{
	cat "$files/copyright"
	sed -n '/^License-Text:/,$p' "$repo/LICENSES/Linux-OpenIB" | sed 1d
	[[ ! -e $files/$1.copyright ]] || cat "$files/$1.copyright"
}

build_deb() # ROOT PACKAGE ARCHITECTURE DEPENDENCIES SUMMARY
{
	local root=$1 package=$2 doc=$1/usr/share/doc/$2 section=net
	[[ $package != *-dkms ]] || section=kernel
	mkdir -p "$doc"
	copyright "$package" >"$doc/copyright"
	printf 'sroce (%s) unstable; urgency=medium\n\n  * See the history of the sources.\n\n -- The sroce authors <sroce@localhost>  %s\n' \
		"$version" "$(date -R)" | gzip -9n >"$doc/changelog.gz"
	cat >"$root/DEBIAN/control" <<-END
		Package: $package
		Version: $version
		Architecture: $3
		Maintainer: The sroce authors <sroce@localhost>
		Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
		Depends: $4
		${recommends:+Recommends: $recommends
		}Section: $section
		Priority: optional
		Description: $5
		$(sed 's/^/ /' "$files/description")
		 .
		$(sed 's/^/ /' "$files/$package.description")
	END
	(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	dpkg-deb --root-owner-group --build "$root" "$out/${package}_${version}_$3.deb" >/dev/null
}
