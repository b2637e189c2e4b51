/* What the parts of the warden know of each other. The warden is process 1 of a sandbox: it runs an agent's
   commands and moves its files, and takes orders from its attach stream only. Everything it reads is hostile. */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define VERSION 1u
#define MARKER_BYTES 8u
#define HEADER_BYTES 40u
#define FRAME_BYTES (1u << 20)
#define PAYLOAD_BYTES (FRAME_BYTES - HEADER_BYTES)
#define CHUNK_BYTES (64u << 10)    /* payload of the frames that we send */
#define RESERVE_BYTES 4096u         /* of the stream's queue, for short replies */
#define REQUEST_BYTES (96u << 20)  /* a request of many frames */
#define OUTPUT_BYTES (4u << 20)    /* kept of one stream at most */
#define STATE_BYTES (1u << 20)     /* variables and functions carried over */
#define PATH_BYTES 4096u

/* ---- link/wire.c: little-endian fields, bounds always checked ---- */
struct span { const uint8_t *at; size_t len; };
struct reader { const uint8_t *at; size_t left; bool bad; };
struct writer { uint8_t *at; size_t left; bool bad; };

uint64_t read_int(struct reader *from, unsigned bytes);
struct span read_span(struct reader *from, size_t len);
void write_int(struct writer *to, uint64_t value, unsigned bytes);
void write_span(struct writer *to, struct span bytes);
uint32_t crc32_of(struct span bytes);
struct span text(const char *sentence);

/* ---- link/frame.c: frames in a stream of bytes ----
   marker 8 · type 1 · flags 1 · cell 2 · epoch 4 · seq 4 · offset 8 · length 4 · crc of payload 4 · crc of these 36 bytes 4.
   A message longer than a frame is sent in several; all but the last have FLAG_MORE, offset is the place in the message.
   The marker of a hello is fixed; that of all else is the nonce of the newest hello. */
enum {
	HELLO = 1, RUN, CANCEL, KILL_ALL, PING, PUT, GET, MANIFEST,
	READY = 65, RESULT, STDOUT, STDERR, KILLED, PONG, RECORDS, REFUSED,
};
enum { FLAG_MORE = 1 };
enum refusal { REFUSED_BUSY = 1, REFUSED_BAD, REFUSED_EPOCH, REFUSED_OLD, REFUSED_FAILED, REFUSED_CANCELLED };

struct frame {
	uint8_t type, flags;
	uint16_t cell;
	uint32_t epoch, seq;
	uint64_t offset;
	struct span payload;
};
extern const uint8_t hello_marker[MARKER_BYTES];
void frame_header(uint8_t header[HEADER_BYTES], const uint8_t marker[MARKER_BYTES], const struct frame *frame);
bool frame_find(struct span bytes, const uint8_t *nonce, struct frame *found, size_t *used, uint32_t *bad);
bool frame_find_hello(struct span bytes, struct frame *found, size_t *used);

/* ---- link/link.c: the attach stream ---- */
void link_open(void);
void link_watch(void);
void link_tick(int64_t now);
size_t link_space(void);
bool link_idle(void);
bool link_send(const struct frame *frame);
void link_refuse(uint32_t seq, enum refusal code, const char *sentence);

/* ---- link/request.c: frames to whole requests ---- */
void request_frame(const struct frame *frame);
void request_forget(void);

/* ---- main.c: the one loop ---- */
typedef void ready_fn(void *arg);
struct identity { uid_t uid; gid_t gid; uint32_t grace_ms; char workdir[PATH_BYTES]; bool known; };
extern struct identity agent;
extern char **first_environment;
int64_t now_ns(void);
void watch(int fd, short events, ready_fn *ready, void *arg);
void wake_at(int64_t when);
void reap(void);

/* ---- run/rights.c ---- */
bool rights_can_be_dropped(void);
int rights_drop(uid_t uid, gid_t gid);
void become_child(void);

/* ---- run/processes.c: who else lives in this sandbox ---- */
void processes_mark(void);
int processes_signal_new(pid_t shell, int sig);
bool processes_kill_all(void);

/* ---- run/capture.c: output under a cap ---- */
struct capture { int fd; uint8_t *bytes; size_t cap, head, tail, tail_at; uint64_t total, sent; uint8_t type; };
void capture_open(struct capture *it, int fd, size_t cap, uint8_t stream_type);
void capture_watch(struct capture *it);
void capture_drain(struct capture *it, size_t most);
size_t capture_kept(const struct capture *it);
void capture_write(const struct capture *it, struct writer *to);
void capture_close(struct capture *it);
void sinks_watch(void);
extern uint32_t streaming_seq;

/* ---- run/shell.c: one shell per command, started ahead of it ---- */
struct command {
	uint32_t seq, flags, timeout_ms, output_bytes;
	struct span cwd, env, script, input;
};
enum { RUN_MERGE = 1, RUN_ISOLATED = 2, RUN_STREAM = 4, RUN_STDIN = 8, RUN_CWD = 16 };
struct shell { pid_t pid; bool isolated; int out, err, go, prelude, script, input, control; };
int shell_start(struct shell *it, bool isolated);
bool shell_go(struct shell *it, const struct command *command);
void shell_close(struct shell *it);
void shell_tick(void);
bool shell_exited(pid_t pid);
int shell_take(struct shell *it, bool isolated);
void shell_forget(bool also_state);
void shell_freeze(void);

/* ---- run/script.c: the shell text around a command ---- */
extern const char bash_wrapper[], sh_wrapper[];
char *prelude_of(const struct command *command, const char *carried_cwd, size_t *len);

/* ---- run/state.c: what one command leaves to the next ---- */
enum state_news { STATE_CWD_GONE = 1, STATE_TOO_LARGE = 2, STATE_VARIABLE_TOO_LARGE = 4, STATE_TAKEN = 8 };
const char *state_cwd(void);
struct span state_text(void);
int state_take(int control, bool keep_cwd);
void state_forget(void);

/* ---- run/run.c, run/result.c: the command that runs and the last result ---- */
struct ending { uint8_t kind, code; bool oom_killed; int news; int64_t took_ns; struct rusage usage; };
bool run_busy(void);
uint32_t run_seq(void);
void run_start(uint32_t seq, struct span request);
void run_cancel(uint32_t seq);
bool run_exited(pid_t pid, int status, const struct rusage *usage);
void run_watch(void);
void run_tick(int64_t now);
void result_set(uint32_t seq, const struct ending *ending, struct capture streams[2]);
void result_fail(uint32_t seq, const char *sentence);
uint32_t result_seq(void);
void result_send(void);
void result_stop(void);
void result_pump(void);
bool result_pending(void);

/* ---- files/: file operations, in a child with the agent's rights ---- */
bool files_busy(void);
void files_start(uint8_t type, uint32_t seq, struct span request);
void files_cancel(uint32_t seq);
void files_exited(pid_t pid);
void files_watch(void);
void files_tick(int64_t now);

enum record { RECORD_FILE = 1, RECORD_DIRECTORY, RECORD_SYMLINK, RECORD_OTHER, RECORD_ABSENT, RECORD_HASH, RECORD_DATA, RECORD_END = 255 };
enum { END_OK, END_REFUSED, END_FAILED };
struct request { uint8_t type; uint32_t max_entries; uint64_t max_bytes; char root[PATH_BYTES]; struct reader records; };
int open_beneath(int dir, const char *path, int flags);
bool path_is_plain(struct span path);
void record(enum record type, mode_t mode, struct span path, struct span data);
_Noreturn void finish(int status, const char *sentence, const char *path);
void put_records(int root, struct request *request);
void get_records(int root, struct request *request);
void manifest_records(int root, struct request *request);

struct sha256 { uint32_t h[8]; uint8_t block[64]; uint64_t total; };
void sha256_init(struct sha256 *it);
void sha256_add(struct sha256 *it, struct span bytes);
void sha256_end(struct sha256 *it, uint8_t digest[32]);
