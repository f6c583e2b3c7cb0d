// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The root of the guest is a folder that scripts/run has made, read-only, or in QEMU a copy of it
// in memory, with
//   modules/       the kernel modules in the order to load, sroce.ko last
//   lower, upper, new, share, proc, sys, dev    where to mount
// The folders of the host are userland, current folder, $OUT and that of this run. User-mode Linux
// mounts them by their paths; sroce.share=FOLDER of the kernel's command line is the last one.
// QEMU, where it is sroce.share=9p, shares them under tags: root, folder, out, share. The file
// "settings" of this run's folder has strings that end with NUL: userland, current folder, $OUT or
// nothing, mode, "pair" or nothing, netem's words or nothing, a token that begins the report; then
// the command and its arguments. Its file "environment" is that of the command. Both are deleted
// before the command runs: the userland may be the host's root, where it could read the token.
#include "guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "network.h"
#include "stream.h"

namespace sroce {
namespace {

using Strings = std::vector<std::string>;

/// The host takes an end without a status for a failure, and shows the log.
[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "init: cannot %s: %s\n", what.c_str(), strerror(errno));
  fflush(stderr);
  tcdrain(STDERR_FILENO);
  reboot(RB_POWER_OFF);
  _exit(1);
}

void check(bool good, const std::string& what) {
  if (!good) fail(what);
}

Strings split(const std::string& text, char separator) {
  Strings words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

struct Settings {
  std::string userland, folder, out, mode, pair, netem, token;
  Strings command;
};

Settings read_settings() {
  const Strings all = split(read_file("/share/settings"), '\0');
  check(all.size() > 7, "read /share/settings");
  return {all[0], all[1], all[2], all[3], all[4], all[5], all[6], {all.begin() + 7, all.end()}};
}

void mount_at(const std::string& target, const char* type, unsigned long flags = 0,
              const std::string& data = "") {
  check(mount(type, target.c_str(), type, flags, data.c_str()) == 0,
        std::string("mount ") + type + " on " + target);
}

void make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0755);
  mkdir(path.c_str(), 0755);
}

/// The folder of the run, or "9p", from the kernel's command line.
std::string find_share() {
  const std::string key = "sroce.share=";
  for (const std::string& word : split(read_file("/proc/cmdline"), ' ')) {
    if (word.starts_with(key)) return word.substr(key.size(), word.find('\n') - key.size());
  }
  fail("find sroce.share");
}

/// It stays readable when /proc moves.
const std::string& share() {
  static const std::string found = find_share();
  return found;
}

bool in_qemu() { return share() == "9p"; }

/// Mounts a folder of the host. QEMU knows it by the tag.
void mount_host(const std::string& target, const char* tag, const std::string& path,
                unsigned long flags = 0) {
  if (!in_qemu()) return mount_at(target, "hostfs", flags, path);
  // Files that both ends change are kept only while they are mapped.
  const std::string options = std::string("trans=virtio,version=9p2000.L,msize=512000,cache=") +
                              (flags & MS_RDONLY ? "loose" : "mmap");
  check(mount(tag, target.c_str(), "9p", flags, options.c_str()) == 0,
        std::string("mount ") + tag + " on " + target);
}

void load_modules() {
  Strings names;
  DIR* folder = opendir("/modules");
  check(folder, "open /modules");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const int fd = open(("/modules/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    const char* parameters = name.ends_with("-dummy.ko") ? "numdummies=0" : "";
    check(syscall(SYS_finit_module, fd, parameters, 0) == 0, "load " + name);
    close(fd);
  }
}

/// Lets a folder of the host be written, at the same path. Called in the userland, so that links in
/// the path lead where they should.
void open_folder(const char* tag, const std::string& path) {
  if (path.empty() || path == "/") return;
  make_folders(path);
  mount_host(path, tag, path);
}

/// Makes the userland the root, below a layer in memory.
void enter_userland(const Settings& settings) {
  mount_host("/lower", "root", settings.userland, MS_RDONLY);
  mount_at("/upper", "tmpfs");
  make_folders("/upper/data");
  make_folders("/upper/work");
  mount_at("/new", "overlay", 0, "lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work");
  make_folders("/new/run/sroce");
  check(mount("/", "/new/run/sroce", nullptr, MS_BIND, nullptr) == 0, "mount /run/sroce");
  for (const std::string path : {"/proc", "/sys", "/dev"}) {
    make_folders("/new" + path);
    check(mount(path.c_str(), ("/new" + path).c_str(), nullptr, MS_MOVE, nullptr) == 0,
          "move " + path);
  }
  check(chroot("/new") == 0 && chdir("/") == 0, "enter the userland");
  make_folders("/run/netns");
  make_folders("/dev/pts");
  mount_at("/dev/pts", "devpts", 0, "ptmxmode=0666");
  make_folders("/dev/shm");
  mount_at("/dev/shm", "tmpfs");
  open_folder("folder", settings.folder);
  open_folder("out", settings.out);
  for (const auto& [link, target] : {std::pair{"/dev/fd", "/proc/self/fd"},
                                     {"/dev/stdin", "/proc/self/fd/0"},
                                     {"/dev/stdout", "/proc/self/fd/1"},
                                     {"/dev/stderr", "/proc/self/fd/2"}})
    check(symlink(target, link) == 0 || errno == EEXIST, std::string("make ") + link);
}

int open_netns() {
  const int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  check(fd >= 0, "open the network namespace");
  return fd;
}

/// Gives the current network namespace a name of "ip netns".
void name_netns(const std::string& name) {
  const std::string path = "/run/netns/" + name;
  close(open(path.c_str(), O_CREAT | O_CLOEXEC, 0444));
  check(mount("/proc/self/ns/net", path.c_str(), nullptr, MS_BIND, nullptr) == 0, "name " + name);
}

/// Runs a program of the userland with its output in the log. Returns false and sets errno if it
/// fails.
bool run(const Strings& words) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return false;
  errno = WEXITSTATUS(status) == 127 ? ENOENT : EINVAL;
  return status == 0;
}

void set_up_end(const Settings& settings, const std::string& device, int number) {
  check(set_link_up("lo") && set_up_link("rdma0", number), "set up rdma0");
  check(add_device(device, "rdma0"), "add " + device);
  if (settings.netem.empty()) return;
  Strings words{"tc", "qdisc", "add", "dev", "rdma0", "root", "netem"};
  std::istringstream netem(settings.netem);
  for (std::string word; netem >> word;) words.push_back(word);
  check(run(words), "set netem with the command tc");
}

/// The index of a device's GID of 10.99.0.NUMBER, as soon as it is there.
std::string wait_for_gid(const std::string& device, int number) {
  const std::string port = "/sys/class/infiniband/" + device + "/ports/1/";
  char wanted[64];
  snprintf(wanted, sizeof(wanted), "0000:0000:0000:0000:0000:ffff:0a63:%04x\n", number);
  for (int tries = 0; tries < 2000; ++tries) {
    if (read_file(port + "state").find("ACTIVE") != std::string::npos) {
      for (int index = 0; index < 16; ++index) {
        const std::string text = std::to_string(index);
        if (read_file(port + "gids/" + text) == wanted) return text;
      }
    }
    usleep(5000);
  }
  fail("get the GID of " + device);
}

/// Makes the interfaces and devices. Returns the variables that describe them.
Strings set_up_network(const Settings& settings) {
  const auto describe = [&](const std::string& device, int number, const std::string& suffix) {
    return Strings{"SROCE_DEV" + suffix + "=" + device,
                   "SROCE_GID_INDEX" + suffix + "=" + wait_for_gid(device, number),
                   "SROCE_IP" + suffix + "=10.99.0." + std::to_string(number)};
  };
  if (settings.pair.empty()) {
    check(add_dummy("rdma0"), "add rdma0");
    set_up_end(settings, "rxe0", 1);
    return describe("rxe0", 1, "");
  }
  const int netns_a = open_netns();
  name_netns("a");
  check(unshare(CLONE_NEWNET) == 0, "make a network namespace");
  name_netns("b");
  check(add_veth("rdma0", netns_a), "add the veth pair");
  set_up_end(settings, "rxe1", 2);
  check(setns(netns_a, CLONE_NEWNET) == 0, "return to the first network namespace");
  close(netns_a);
  set_up_end(settings, "rxe0", 1);
  Strings variables = describe("rxe0", 1, "");
  for (std::string& variable : describe("rxe1", 2, "_B")) variables.push_back(variable);
  // The kernel's rdma_resolve_addr() misses a neighbour that responds before it waits, which one of
  // the same kernel does. It would wait until its time is over.
  check(resolve_neighbour(2), "send to the neighbour");
  return variables;
}

/// A console, 1 to 3, that carries bytes as they are: of QEMU a port, which appears late, of
/// User-mode Linux a terminal.
int open_console(int number) {
  const std::string path = (in_qemu() ? "/dev/vport0p" : "/dev/tty") + std::to_string(number);
  int fd = -1;
  for (int tries = 0; fd < 0 && tries < 2000; ++tries) {
    if (tries > 0) usleep(5000);
    fd = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT) break;
  }
  check(fd >= 0, "open " + path);
  if (in_qemu()) return fd;
  termios mode{};
  check(tcgetattr(fd, &mode) == 0, "get the mode of " + path);
  cfmakeraw(&mode);
  check(tcsetattr(fd, TCSANOW, &mode) == 0, "set the mode of " + path);
  return fd;
}

/// Whether a folder of $PATH that can be searched has the program.
bool is_in_path(const std::string& program) {
  const char* path = getenv("PATH");
  for (const std::string& folder : split(path ? path : "", ':')) {
    if (access((folder + "/" + program).c_str(), F_OK) == 0) return true;
  }
  return false;
}

[[noreturn]] void exec_command(const Settings& settings, const Strings& environment) {
  if (chdir(settings.folder.c_str()) != 0) {
    dprintf(STDERR_FILENO, "sroce: cannot enter %s: %s\n", settings.folder.c_str(),
            strerror(errno));
    _exit(125);
  }
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv;
  for (const std::string& word : settings.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvp(argv[0], argv.data());
  int error = errno;
  // So it is, too, if a folder of $PATH cannot be searched.
  if (error == EACCES && !strchr(argv[0], '/') && !is_in_path(argv[0])) error = ENOENT;
  dprintf(STDERR_FILENO, "sroce: cannot run %s: %s\n", argv[0], strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/// Waits for a child, and collects all others that end before it. Returns its status as a shell
/// does.
int wait_for(pid_t child) {
  for (;;) {
    int status = 0;
    if (wait(&status) != child) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

/// Runs the command between pipes, copies them to the consoles, and reports its status and how much
/// the host has to read before it ends the guest. The token shows that the report is ours, because
/// the command may write to the console, too.
[[noreturn]] void run_command(const Settings& settings, const Strings& environment) {
  const int main_console = open_console(1);  // input and output
  const int error_console = open_console(2);
  const int control = open_console(3);
  int input[2], output[2], error[2];
  check(
      pipe2(input, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0 && pipe2(error, O_CLOEXEC) == 0,
      "make pipes");
  // This waits until the host has opened the port, and so the other two, which come before it. A
  // port that the host has not opened reads as ended. The command, which may write to it, comes
  // later.
  write_all(control, "r", 1);
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(error[1], STDERR_FILENO);
    setsid();
    exec_command(settings, environment);
  }
  for (const int fd : {input[0], output[1], error[1]}) close(fd);
  std::thread([=] {
    receive_records(main_console, input[1]);
    close(input[1]);
  }).detach();
  Count output_count = 0, error_count = 0;
  std::thread copy_output([&] { copy_stream(output[0], main_console, output_count); });
  std::thread copy_error([&] { copy_stream(error[0], error_console, error_count); });
  const int status = wait_for(child);
  kill(-1, SIGKILL);  // what the command has left behind, so that the streams end
  sync();
  copy_output.join();
  copy_error.join();
  fprintf(stderr, "init: done\n");
  tcdrain(STDERR_FILENO);
  std::ostringstream report;
  report << settings.token << ' ' << status << ' ' << output_count << ' ' << error_count << '\n';
  write_all(control, report.str().data(), report.str().size());
  for (;;) pause();
}

}  // namespace

void run_guest() {
  signal(SIGPIPE, SIG_IGN);
  mount("proc", "/proc", "proc", 0, nullptr);
  mount_at("/sys", "sysfs");
  mount("devtmpfs", "/dev", "devtmpfs", 0, nullptr);  // fails if User-mode Linux has mounted it
  load_modules();
  mount_host("/share", "share", share());
  const Settings settings = read_settings();
  check(unlink("/share/settings") == 0, "delete the settings");
  Strings environment = split(read_file("/share/environment"), '\0');
  unlink("/share/environment");  // may have secrets, which nobody deletes if scripts/run is killed
  umount("/share");
  enter_userland(settings);
  if (settings.mode == "native") environment.push_back("IBV_DRIVERS=/run/sroce/libsroce");
  for (std::string& variable : set_up_network(settings)) environment.push_back(variable);
  clearenv();
  run_command(settings, environment);
}

}  // namespace sroce
