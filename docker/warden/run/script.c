/* The shell text around a command. The wrapper is constant; the prelude is made per command and holds only quoted values.
   In the shell: fd 3 go, 4 prelude, 5 state, 6 command, 8 stdin, 247 (sh: 9) control, which the command does not inherit. */
#include "warden.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bash_wrapper[] =
	"builtin . /proc/self/fd/5 2>/dev/null; IFS= builtin read -r __assay <&3 || builtin exit 126; "
	"builtin . /proc/self/fd/4; IFS= builtin read -r -d '' __assay <&6; exec 3<&- 4<&- 5<&- 6<&- 8<&-; "
	"builtin trap '{ builtin eval \"$__assay_end\"; } 2>/dev/null' EXIT; "
	"builtin eval \"$__assay\" 247>&-; "
	"{ builtin eval \"$__assay_end\"; } 2>/dev/null; builtin exit \"$__assay_rc\"";

const char sh_wrapper[] =
	"command . /proc/self/fd/5 2>/dev/null; IFS= read -r __assay <&3 || exit 126; "
	". /proc/self/fd/4; exec 3<&- 4<&- 5<&- 8<&-; "
	"trap '{ eval \"$__assay_end\"; } 2>/dev/null' EXIT; "
	"command . /proc/self/fd/6 9>&-\n"
	"{ eval \"$__assay_end\"; } 2>/dev/null; exit \"$__assay_rc\"";

/* Where a function of the command exits, bash runs the trap before it puts fd 247 back; 10 is where it keeps it. */
static const char dump[] =
	"if [ -n \"${BASH_VERSION-}\" ]; then "
	"__assay_out() { builtin unset -f __assay_out; "
	"builtin pwd && builtin printf \"\\0\" && builtin export -p && builtin declare -f && builtin declare -Fx; builtin printf \"\\0\"; }; "
	"__assay_out >&247 || __assay_out >|/proc/self/fd/10; "
	"else { pwd && printf \"\\0\" && export -p; printf \"\\0\"; } >&9; fi; ";

static void quoted(FILE *to, struct span value)
{
	fputc('\'', to);
	for (size_t i = 0; i < value.len; i++)
		if (value.at[i] == '\'')
			fputs("'\\''", to);
		else if (value.at[i] != 0)
			fputc(value.at[i], to);
	fputc('\'', to);
}

/* The next KEY=VALUE of env (NUL-terminated each) whose key is a name that a shell can hold. */
static bool next_variable(struct span *env, struct span *key, struct span *value)
{
	while (env->len > 0) {
		const uint8_t *end = memchr(env->at, 0, env->len);
		size_t len = end == NULL ? env->len : (size_t)(end - env->at);
		struct span entry = { env->at, len };
		size_t used = end == NULL ? len : len + 1;
		env->at += used;
		env->len -= used;
		const uint8_t *equals = memchr(entry.at, '=', entry.len);
		if (equals == NULL || equals == entry.at)
			continue;
		*key = (struct span){ entry.at, (size_t)(equals - entry.at) };
		*value = (struct span){ equals + 1, entry.len - key->len - 1 };
		bool name = !isdigit(key->at[0]);
		for (size_t i = 0; i < key->len; i++)
			name = name && (isalnum(key->at[i]) || key->at[i] == '_');
		if (name)
			return true;
	}
	return false;
}

static void variables(FILE *to, struct span env)
{
	struct span key, value;
	while (next_variable(&env, &key, &value)) {
		int len = (int)key.len;
		const char *name = (const char *)key.at;
		fprintf(to, "{ __assay_h_%.*s=${%.*s+x}; __assay_o_%.*s=${%.*s-}; export %.*s=", len, name, len, name, len, name, len, name, len, name);
		quoted(to, value);
		fputs("; } 2>/dev/null\n", to);
	}
}

static void restore_variables(FILE *to, struct span env)
{
	struct span key, value;
	while (next_variable(&env, &key, &value)) {
		int len = (int)key.len;
		const char *name = (const char *)key.at;
		fprintf(to, "if [ -n \"${__assay_h_%.*s-}\" ]; then export %.*s=\"${__assay_o_%.*s-}\"; else unset %.*s; fi; ",
			len, name, len, name, len, name, len, name);
	}
}

static void change_directory(FILE *to, const struct command *command, const char *carried)
{
	if (command->flags & RUN_CWD) {
		if (command->cwd.len == 0 || command->cwd.at[0] != '/') {
			fputs("command cd -- ", to);
			quoted(to, text(carried));
			fputs(" 2>/dev/null\n", to);
		}
		fputs("command cd -- ", to);
		quoted(to, command->cwd);
		fputs(" 2>/dev/null || { printf 'assay: the directory %s cannot be entered\\n' ", to);
		quoted(to, command->cwd);
		fputs(" >&2; exit 126; }\n", to);
		return;
	}
	fputs("__assay=${OLDPWD-}; command cd -- ", to);
	quoted(to, text(carried));
	fputs(" 2>/dev/null || { command cd -- ", to);
	quoted(to, text(agent.workdir));
	fputs(" 2>/dev/null || command cd /; if [ -n \"${BASH_VERSION-}\" ]; then printf '!\\0' >&247; else printf '!\\0' >&9; fi; }\n", to);
	fputs("if [ -n \"$__assay\" ]; then OLDPWD=$__assay; else unset OLDPWD; fi\n", to);
}

/* To be freed by the caller; NULL when there is no memory. */
char *prelude_of(const struct command *command, const char *carried_cwd, size_t *len)
{
	char *made = NULL;
	FILE *to = open_memstream(&made, len);
	if (to == NULL)
		return NULL;
	bool isolated = command->flags & RUN_ISOLATED;
	change_directory(to, command, isolated ? agent.workdir : carried_cwd);
	variables(to, command->env);
	fputs("__assay_end='__assay_rc=$?; set +x; __assay_end=:; ", to);
	if (!isolated) {
		restore_variables(to, command->env);
		fputs(dump, to);
	}
	fputs("'\n", to);
	if (command->flags & RUN_STDIN)
		fputs("exec </proc/self/fd/8\n", to);
	if (command->flags & RUN_MERGE)
		fputs("exec 2>&1\n", to);
	bool failed = ferror(to) != 0;
	if (fclose(to) != 0 || failed) {
		free(made);
		return NULL;
	}
	return made;
}
