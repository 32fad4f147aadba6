/*
 * The witness: sees every program that a command starts, before it starts, and says so.
 *
 * Each command carries a seccomp filter (spare.c sets it) that has the kernel tell this process of
 * execve and execveat and wait for its word, which is always "go on": it observes and authorises
 * nothing, since a program can change its arguments after they were read. Without a witness such a
 * call fails, so nothing starts unseen. What it sees are attempts: a program that is looked for in
 * every directory of PATH shows once for each.
 *
 *     witness UID GID
 *
 * Descriptor 3 is a packet socket on which spares send their listener with a number (u64);
 * descriptor 4 is the pipe to the tool server (witness.py). First goes one line, empty where the
 * kernel can do this, else why not; then one record after the other, see ``struct record``.
 *
 * Root, like the server, so that no command can signal or look into it; but it looks at files and
 * memory with the command's user id, which is all that the kernel lets it read them with.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPARES = 3,
    SERVER = 4,
    MOST_WORDS = 1000,
    MOST_TEXT = 16 * 1024,
    MOST_PATH = 4096,
    MOST_LINE = 256, /* of which the kernel heeds no more */
    MOST_SCRIPTS = 4,
    EVENTS = 64,
};

/* What is not known of it; GONE: nothing is left that could start anything, and nothing follows. */
enum { CUT = 1, UNREADABLE = 2, GONE = 4 };

/*
 * All in the machine's byte order. Texts follow, each ended by NUL: the path as given; the file it
 * leads to; where that is a script, the lines that name its interpreter and, as that may be a script
 * too, its interpreter's; the file of the program that asks; then the arguments.
 */
struct record {
    uint32_t size; /* of what follows it */
    uint32_t flags;
    uint64_t number; /* of the spare that became the command */
    uint32_t pid, parent;
};

struct told {
    struct record head;
    char text[3 * MOST_PATH + MOST_SCRIPTS * MOST_LINE + MOST_TEXT + 8];
};

static struct seccomp_notif *asked;
static struct seccomp_notif_resp *answer;
static struct seccomp_notif_sizes sizes;

static void say(const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(SERVER, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            _exit(0);
        at += count;
        size -= (size_t)count;
    }
}

static const char *lacking(void) {
    const uint32_t action = SECCOMP_RET_USER_NOTIF;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0 ||
        syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        return strerror(errno);
    size_t least = sizeof *asked > sizes.seccomp_notif ? sizeof *asked : sizes.seccomp_notif;
    size_t room = sizeof *answer > sizes.seccomp_notif_resp ? sizeof *answer
                                                            : sizes.seccomp_notif_resp;
    asked = calloc(1, least);
    answer = calloc(1, room);
    sizes.seccomp_notif = (uint16_t)least;
    sizes.seccomp_notif_resp = (uint16_t)room;
    return asked && answer ? "" : "no memory";
}

/* Read a text of another process up to its NUL; its length, or -1 where it cannot be read. */
static ssize_t text_at(int memory, uint64_t address, char *into, size_t room, uint32_t *flags) {
    size_t have = 0;
    while (have < room) {
        /* Never across a page: what lies behind may not be mapped. */
        size_t piece = 4096 - (address + have) % 4096;
        if (piece > room - have)
            piece = room - have;
        ssize_t count = pread(memory, into + have, piece, (off_t)(address + have));
        if (count <= 0)
            return -1;
        char *end = memchr(into + have, '\0', (size_t)count);
        if (end != NULL)
            return end - into;
        have += (size_t)count;
    }
    *flags |= CUT;
    into[room - 1] = '\0';
    return (ssize_t)room - 1;
}

/* Read the arguments one behind the other; the room they took. */
static size_t words_at(int memory, uint64_t address, char *into, size_t room, uint32_t *flags) {
    uint64_t places[MOST_WORDS];
    size_t used = 0;
    if (address == 0)
        return 0;
    for (size_t at = 0; at < MOST_WORDS; at++) {
        if (pread(memory, &places[at], sizeof places[at], (off_t)(address + at * 8)) != 8) {
            *flags |= UNREADABLE;
            return used;
        }
        if (places[at] == 0)
            return used;
        if (room - used < 2)
            break;
        ssize_t length = text_at(memory, places[at], into + used, room - used, flags);
        if (length < 0) {
            *flags |= UNREADABLE;
            return used;
        }
        used += (size_t)length + 1;
    }
    *flags |= CUT;
    return used;
}

static uint32_t parent_of(uint32_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (count <= 0)
        return 0;
    text[count] = '\0';
    /* The name in parentheses may hold anything. */
    char *end = strrchr(text, ')');
    unsigned parent = 0;
    return end != NULL && sscanf(end + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

/*
 * Open what a process would find by a path, to look at it; -1 where there is nothing. Names that mean
 * the process itself must not mean this one.
 */
static int find_file(uint32_t pid, int directory, const char *path) {
    char from[MOST_PATH + 64];
    const char *rest = path;
    int base = AT_FDCWD;
    if (path[0] == '\0') {
        snprintf(from, sizeof from, "/proc/%u/fd/%d", pid, directory);
        rest = from;
    } else if (strncmp(path, "/dev/fd/", 8) == 0) {
        snprintf(from, sizeof from, "/proc/%u/fd/%s", pid, path + 8);
        rest = from;
    } else if (strncmp(path, "/proc/self/", 11) == 0) {
        snprintf(from, sizeof from, "/proc/%u/%s", pid, path + 11);
        rest = from;
    } else if (path[0] != '/') {
        if (directory == AT_FDCWD)
            snprintf(from, sizeof from, "/proc/%u/cwd", pid);
        else
            snprintf(from, sizeof from, "/proc/%u/fd/%d", pid, directory);
        base = open(from, O_PATH | O_CLOEXEC);
        if (base < 0)
            return -1;
    }
    int file = openat(base, rest, O_PATH | O_CLOEXEC);
    if (base != AT_FDCWD)
        close(base);
    return file;
}

/* Write where a link of /proc leads, and its NUL; the room that took. */
static size_t target_of(const char *link, char *into) {
    ssize_t length = readlink(link, into, MOST_PATH - 1);
    if (length < 0)
        length = 0;
    into[length] = '\0';
    return (size_t)length + 1;
}

/* Write the first line of a script without its mark, and a line feed; 0 where it is none. */
static size_t line_of(const char *link, char *into) {
    struct stat found;
    char start[MOST_LINE];
    int file = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t count = -1;
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        count = read(file, start, sizeof start);
    if (file >= 0)
        close(file);
    if (count < 2 || start[0] != '#' || start[1] != '!')
        return 0;
    size_t used = 0;
    for (ssize_t at = 2; at < count && start[at] != '\n' && start[at] != '\0'; at++)
        into[used++] = start[at];
    into[used++] = '\n';
    return used;
}

/* Write the file that starts, and the lines of its interpreters; the room they took. */
static size_t look_at(uint32_t pid, int directory, const char *path, char *into) {
    char link[64], next[MOST_LINE + 1];
    int file = find_file(pid, directory, path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    size_t used = file < 0 ? (into[0] = '\0', 1) : target_of(link, into);
    for (int depth = 0; file >= 0 && depth < MOST_SCRIPTS; depth++) {
        size_t length = line_of(link, into + used);
        close(file);
        file = -1;
        if (length > 0) {
            char *line = into + used;
            used += length;
            size_t skip = strspn(line, " \t");
            size_t name = strcspn(line + skip, " \t\n");
            memcpy(next, line + skip, name);
            next[name] = '\0';
            file = find_file(pid, AT_FDCWD, next);
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        }
    }
    if (file >= 0)
        close(file);
    into[used++] = '\0';
    return used;
}

static void send_record(struct told *told, size_t used) {
    told->head.size = (uint32_t)(sizeof told->head - sizeof told->head.size + used);
    say(told, sizeof told->head + used);
}

static void tell(uint64_t number, int listener) {
    static struct told told;
    told.head = (struct record){.number = number, .pid = asked->pid};
    const int at = asked->data.nr == SYS_execveat;
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/mem", asked->pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    if (memory < 0) {
        told.head.flags = UNREADABLE;
    } else {
        ssize_t length = text_at(memory, asked->data.args[at], told.text, MOST_PATH, &told.head.flags);
        if (length < 0) {
            told.head.flags |= UNREADABLE;
            length = 0;
        }
        told.text[length] = '\0';
        used = (size_t)length + 1;
        used += look_at(asked->pid, at ? (int)asked->data.args[0] : AT_FDCWD, told.text,
                        told.text + used);
        snprintf(path, sizeof path, "/proc/%u/exe", asked->pid);
        used += target_of(path, told.text + used);
        used += words_at(memory, asked->data.args[at + 1], told.text + used, MOST_TEXT,
                         &told.head.flags);
        close(memory);
    }
    told.head.parent = parent_of(asked->pid);
    /* What was read is of this process only if it still waits: its number may be another's by now. */
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked->id) != 0)
        return;
    send_record(&told, used);
}

static void end(uint64_t number, int listener) {
    static struct told told;
    told.head = (struct record){.number = number, .flags = GONE};
    send_record(&told, 0);
    close(listener);
}

/* Take one question and let it go on; 0 where the listener has nobody left to ask. */
static int serve(uint64_t number, int listener) {
    memset(asked, 0, sizes.seccomp_notif);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) != 0)
        return errno == EINTR || errno == ENOENT;
    tell(number, listener);
    memset(answer, 0, sizes.seccomp_notif_resp);
    answer->id = asked->id;
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    /* It fails where the process was killed meanwhile. */
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
    return 1;
}

/* One spare's listener; its number rides in the event, beside the descriptor. */
static void greet(int watched) {
    uint64_t number;
    char room[CMSG_SPACE(sizeof(int))];
    struct iovec into = {&number, sizeof number};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t count = recvmsg(SPARES, &message, MSG_CMSG_CLOEXEC);
    if (count == 0)
        _exit(0);
    struct cmsghdr *head = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_type != SCM_RIGHTS || count != sizeof number)
        return;
    int listener;
    memcpy(&listener, CMSG_DATA(head), sizeof listener);
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = number << 32 | (uint32_t)listener};
    if (epoll_ctl(watched, EPOLL_CTL_ADD, listener, &event) != 0)
        close(listener);
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    const char *problem = lacking();
    say(problem, strlen(problem));
    say("\n", 1);
    if (*problem)
        return 0;
    setfsgid((gid_t)strtoul(words[2], NULL, 10));
    setfsuid((uid_t)strtoul(words[1], NULL, 10));
    int watched = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event first = {.events = EPOLLIN, .data.u64 = UINT64_MAX}, events[EVENTS];
    if (watched < 0 || epoll_ctl(watched, EPOLL_CTL_ADD, SPARES, &first) != 0)
        return 1;
    for (;;) {
        int ready = epoll_wait(watched, events, EVENTS, -1);
        for (int at = 0; at < ready; at++) {
            uint64_t what = events[at].data.u64;
            if (what == UINT64_MAX) {
                greet(watched);
                continue;
            }
            int listener = (int)(uint32_t)what;
            if (!(events[at].events & EPOLLIN) || !serve(what >> 32, listener))
                end(what >> 32, listener);
        }
    }
}
