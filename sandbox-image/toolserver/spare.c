/*
 * A spare: started beforehand, still root, it waits on descriptor 3 for what it is to run, gives up
 * every power and becomes it. spare.py is its other end; the image builds it as a static program.
 *
 * C, because forking the Python server costs more than starting bash does, and because this process
 * then holds nothing of the server's memory.
 *
 *     spare UID GID FILE_SIZE OPEN_FILES NUMBER [terminal]
 *
 * With a NUMBER but 0, whatever it and its children start is shown to the witness (witness.c) first,
 * which is reached on descriptor 5 and knows it by this number.
 * With the last word, descriptor 0 becomes its controlling terminal.
 * Its environment is the command's. An order is: mark u64, length of directory u32, length of
 * command u32, all in the machine's byte order, then both texts. Why it failed goes to descriptor 4.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Our own, static: an image may have none, or one that is not what it seems. */
#define SHELL "/opt/glovebox/bash"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the numbers of this machine's system calls are not known here"
#endif
/* Numbers from here up are x32's on x86-64, and nobody's elsewhere. */
#define FOREIGN 0x40000000

enum { ORDER = 3, FAILURE = 4, WITNESS = 5, MOST = 256 * 1024 };

struct head {
    uint64_t mark;
    uint32_t directory, command;
};

static char texts[MOST + 2];
extern char **environ;

static void fail(const char *what) {
    dprintf(FAILURE, "%s: %s", what, strerror(errno));
    _exit(126);
}

/* Read exactly so much; an order that never comes ends the spare quietly. */
static void take(void *into, size_t size) {
    char *at = into;
    while (size > 0) {
        ssize_t count = read(ORDER, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            _exit(0);
        at += count;
        size -= (size_t)count;
    }
}

static void limit(int which, rlim_t value, const char *name) {
    struct rlimit both = {value, value};
    if (setrlimit(which, &both) != 0)
        fail(name);
}

static rlim_t number(const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text) {
        errno = EINVAL;
        fail(text);
    }
    return (rlim_t)value;
}

/* The out-of-memory killer is to take a command, and this, before the server. */
static void offer_to_oom_killer(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "1000", 4) != 4)
        fail("oom_score_adj");
    close(file);
}

/*
 * Ignored signals stay ignored through exec, and an engine hands on what it was started with, the
 * two that the C library keeps for itself too; hence the bare system call. KILL and STOP refuse.
 */
static void heed_all_signals(void) {
    const unsigned long as_default[8] = {0};
    for (int number = 1; number < _NSIG; number++)
        syscall(SYS_rt_sigaction, number, as_default, NULL, _NSIG / 8);
}

static void set_limits(rlim_t file_size, rlim_t open_files) {
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0)
        fail("open files");
    limit(RLIMIT_NOFILE, now.rlim_max < open_files ? now.rlim_max : open_files, "open files");
    limit(RLIMIT_FSIZE, file_size, "file size");
    /* Where nothing may be written at all, a shell is told so by an error, not killed. */
    if (file_size == 0 && signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
        fail("file size");
    limit(RLIMIT_CORE, 0, "core size");
}

/* Another way in is refused, as its numbers would mean other calls; the box's profile does it too. */
static int watch_programs(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 2, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &filter);
}

/* From here on every program that starts is seen, this one's shell first. */
static void call_witness(uint64_t number) {
    int listener = watch_programs();
    if (listener < 0)
        fail("exec record");
    char room[CMSG_SPACE(sizeof listener)] = {0};
    struct iovec from = {&number, sizeof number};
    struct msghdr message = {
        .msg_iov = &from, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof listener);
    memcpy(CMSG_DATA(head), &listener, sizeof listener);
    if (sendmsg(WITNESS, &message, MSG_NOSIGNAL) != sizeof number)
        fail("witness");
    close(listener);
    close(WITNESS);
}

int main(int count, char **words) {
    struct head order;
    if (count != 6 && !(count == 7 && strcmp(words[6], "terminal") == 0))
        return 2;
    uid_t uid = (uid_t)number(words[1]);
    gid_t gid = (gid_t)number(words[2]);
    if (uid == 0 || gid == 0)
        return 2;
    fcntl(ORDER, F_SETFD, FD_CLOEXEC);
    fcntl(FAILURE, F_SETFD, FD_CLOEXEC);
    if (count == 7 && ioctl(0, TIOCSCTTY, 0) != 0)
        fail("controlling terminal");
    heed_all_signals();
    offer_to_oom_killer();
    set_limits(number(words[3]), number(words[4]));
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0)
        fail("group");
    if (number(words[5]) != 0)
        call_witness(number(words[5]));

    take(&order, sizeof order);
    if (order.directory > MOST || order.command > MOST - order.directory)
        return 2;
    char *directory = texts, *command = texts + order.directory + 1;
    take(directory, order.directory);
    take(command, order.command);

    /* Not checked: gVisor knows no such limit, and a mark is not what keeps a command in. */
    struct rlimit mark = {order.mark, order.mark};
    setrlimit(RLIMIT_RTTIME, &mark);
    if (setresuid(uid, uid, uid) != 0)
        fail("user");
    if (chdir(directory) != 0)
        fail(directory);
    execve(SHELL, (char *[]){"bash", "-c", command, NULL}, environ);
    fail(SHELL);
}
