/* What one command leaves to the next: directory, exported variables, functions, as shell text that a shell of the
   agent wrote at its end. The text is the agent's and never interpreted here; at worst it harms the agent. */
#include "warden.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE_BYTES 131000u /* the kernel refuses to exec with a string of 128 KiB */

static struct { char cwd[PATH_BYTES]; char *text; size_t len; } state;

const char *state_cwd(void)
{
	return state.cwd[0] != 0 ? state.cwd : agent.workdir;
}

struct span state_text(void)
{
	return (struct span){ (const uint8_t *)state.text, state.len };
}

void state_forget(void)
{
	free(state.text);
	memset(&state, 0, sizeof state);
}

/* Un-exports variables that no program could be started with; they stay visible to the shell. */
static bool tame_variables(char *from, size_t len)
{
	static const char bash[] = "declare -x ", sh[] = "export ";
	bool tamed = false;
	char *entry = NULL;
	size_t mark = 0;
	for (size_t at = 0; at <= len; at++) {
		bool line_start = at < len && (at == 0 || from[at - 1] == '\n');
		bool is_bash = line_start && len - at > sizeof bash && memcmp(from + at, bash, sizeof bash - 1) == 0;
		bool is_sh = line_start && len - at > sizeof sh && memcmp(from + at, sh, sizeof sh - 1) == 0;
		if (!is_bash && !is_sh && at < len)
			continue;
		if (entry != NULL && (size_t)(from + at - entry) > VARIABLE_BYTES) {
			memcpy(entry, mark == sizeof bash - 1 ? "declare -- " : "       ", mark);
			tamed = true;
		}
		entry = from + at;
		mark = is_bash ? sizeof bash - 1 : sizeof sh - 1;
	}
	return tamed;
}

/* Takes over what a shell wrote to its control file: ["!" NUL] directory LF NUL text NUL. Anything else leaves the old. */
int state_take(int control, bool keep_cwd)
{
	struct stat facts;
	if (fstat(control, &facts) != 0 || facts.st_size <= 0)
		return 0;
	if ((uint64_t)facts.st_size > STATE_BYTES)
		return STATE_TOO_LARGE;
	size_t len = (size_t)facts.st_size;
	char *bytes = malloc(len);
	if (bytes == NULL)
		return STATE_TOO_LARGE;
	int news = 0;
	char *at = bytes;
	if (pread(control, bytes, len, 0) != (ssize_t)len)
		goto leave;
	if (len >= 2 && memcmp(at, "!", 2) == 0) {
		news |= STATE_CWD_GONE;
		at += 2;
		len -= 2;
	}
	char *end = memchr(at, 0, len);
	if (end == NULL || end - at < 2 || end[-1] != '\n' || at[0] != '/' || (size_t)(end - at) > PATH_BYTES)
		goto leave;
	char *from = end + 1;
	size_t rest = len - (size_t)(from - at);
	if (rest == 0 || memchr(from, 0, rest) != from + rest - 1)
		goto leave; /* cut off, or not by our hand */
	char *copy = malloc(rest);
	if (copy == NULL)
		goto leave;
	memcpy(copy, from, rest - 1);
	if (tame_variables(copy, rest - 1))
		news |= STATE_VARIABLE_TOO_LARGE;
	free(state.text);
	state.text = copy;
	state.len = rest - 1;
	if (!keep_cwd) {
		memcpy(state.cwd, at, (size_t)(end - at) - 1);
		state.cwd[end - at - 1] = 0;
	}
	news |= STATE_TAKEN;
leave:
	free(bytes);
	return news;
}
