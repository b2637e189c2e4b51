// Regular expressions of cases: matched in time linear in the text, because the text is an agent's.
import { RE2JS } from 're2js'

/** Whether the whole text matches; "." takes line ends. The pattern has passed checkPattern. */
export function matchesWhole (pattern: string, text: string): boolean {
  return RE2JS.compile(pattern, RE2JS.DOTALL).testExact(text)
}

/** Why the pattern cannot be used (backreferences and lookaround cannot), or undefined. */
export function checkPattern (pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern, RE2JS.DOTALL)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error) // the library's own words name the place
  }
}
