// A switch between network namespaces, in user space, with delay, loss and cuts for each direction: for kernels without netem.
//
// netsim RULES PREFIX ID…
//
// Makes a TUN device PREFIX<ID> for each ID, and passes IPv4 packets from 10.77.0.<ID> to 10.77.0.<ID>. RULES is a file that
// others map and change: for each source and destination, two floats: the delay in milliseconds, and the loss in percent, of which
// 100 is a cut. Prints "ready" when all devices are there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { hosts = 256 };

struct rule {
    float delay, loss;
};

struct packet {
    double due;
    // Packets of one link keep their order when they are due at the same time.
    uint64_t number;
    int destination, length;
    unsigned char *bytes;
};

// Delayed packets, as a binary heap: the first one is the next that is due.
static struct packet *heap;
static int count, capacity;

static int is_before(int a, int b) {
    return heap[a].due < heap[b].due || (heap[a].due == heap[b].due && heap[a].number < heap[b].number);
}

static void swap(int a, int b) {
    struct packet packet = heap[a];
    heap[a] = heap[b];
    heap[b] = packet;
}

static void push(struct packet packet) {
    if (count == capacity) {
        capacity = capacity ? capacity * 2 : 1024;
        heap = realloc(heap, capacity * sizeof *heap);
        if (!heap) abort();
    }
    heap[count] = packet;
    for (int i = count++; i && is_before(i, (i - 1) / 2); i = (i - 1) / 2) swap(i, (i - 1) / 2);
}

static struct packet pop(void) {
    struct packet first = heap[0];
    heap[0] = heap[--count];
    for (int i = 0;;) {
        int least = i;
        for (int child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (is_before(child, least)) least = child;
        if (least == i) return first;
        swap(i, least);
        i = least;
    }
}

static double milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int open_device(const char *prefix, int id) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s%d", prefix, id);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) < 0) {
        perror("/dev/net/tun");
        exit(1);
    }
    return device;
}

// A full queue drops the packet, as that of a real switch does.
static void send_packet(int device, const unsigned char *bytes, int length) {
    if (write(device, bytes, length) < 0) return;
}

int main(int argument_count, char **arguments) {
    if (argument_count < 4) return 64;
    size_t size = hosts * hosts * sizeof(struct rule);
    int file = open(arguments[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, size) < 0) return 1;
    struct rule(*rules)[hosts] = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
    if (rules == MAP_FAILED) return 1;

    int devices[hosts], poller = epoll_create1(0);
    memset(devices, -1, sizeof devices);
    for (int i = 3; i < argument_count; i++) {
        int id = atoi(arguments[i]) & 255;
        devices[id] = open_device(arguments[2], id);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = id};
        epoll_ctl(poller, EPOLL_CTL_ADD, devices[id], &event);
    }
    printf("ready\n");
    fflush(stdout);

    uint64_t number = 0;
    unsigned char bytes[65536];
    struct epoll_event events[64];
    for (;;) {
        double wait = count ? heap[0].due - milliseconds() : 0;
        int ready = epoll_wait(poller, events, 64, !count ? -1 : wait <= 0 ? 0 : (int)wait + 1);
        for (int k = 0; k < ready; k++) {
            int source = events[k].data.u32;
            // At most so many, so that one busy host doesn't hold up what is due.
            for (int turn = 0; turn < 64; turn++) {
                int length = read(devices[source], bytes, sizeof bytes);
                if (length <= 0) break;
                // IPv4, to 10.77.x.<destination>.
                if (length < 20 || bytes[0] >> 4 != 4 || bytes[16] != 10 || bytes[17] != 77) continue;
                int destination = bytes[19];
                if (devices[destination] < 0) continue;
                struct rule rule = rules[source][destination];
                if (rule.loss > 0 && drand48() * 100 < rule.loss) continue;
                if (rule.delay <= 0) {
                    send_packet(devices[destination], bytes, length);
                    continue;
                }
                struct packet packet = {milliseconds() + rule.delay, number++, destination, length, malloc(length)};
                if (!packet.bytes) abort();
                memcpy(packet.bytes, bytes, length);
                push(packet);
            }
        }
        for (double now = milliseconds(); count && heap[0].due <= now;) {
            struct packet packet = pop();
            send_packet(devices[packet.destination], packet.bytes, packet.length);
            free(packet.bytes);
        }
    }
}
