// Leaves protected paths out of a delta, so that the pristine image's stay. Pure; globs: "*" and "?" within a name, "**" any depth.
import type { Delta } from '../sandbox/delta.ts'

export interface Protected {
  delta: Delta
  /** Something was left out. */
  changed: boolean
}

/** Leaves out what matches a glob or lies below a match, and whatever would put something else where a protected path leads through. */
export function protect (delta: Delta, globs: readonly string[]): Protected {
  const patterns = globs.map(glob => glob.split('/'))
  const isProtected = (path: string): boolean => patterns.some(pattern => leads(pattern, path.split('/')).below)
  const isThrough = (path: string): boolean => patterns.some(pattern => leads(pattern, path.split('/')).above)
  const kept = delta.deleted.filter(isProtected)
  const isAboveKept = (path: string): boolean => kept.some(inner => inner.startsWith(`${path}/`))
  const entries = delta.entries.filter(({ type, path }) =>
    !isProtected(path) && !(type === 'symlink' && isThrough(path)) && !(type !== 'directory' && isAboveKept(path)))
  const deleted = delta.deleted.filter(path => !isProtected(path) && !isAboveKept(path))
  const changed = entries.length !== delta.entries.length || deleted.length !== delta.deleted.length
  return { delta: { entries, deleted }, changed }
}

interface Leads {
  /** The pattern matches the path or a directory above it. */
  below: boolean
  /** The pattern names something inside the path by its leading segments ("**" names nothing). */
  above: boolean
}

// "reached" holds every place of the pattern that the parts read so far can have led to: no backtracking
function leads (pattern: readonly string[], parts: readonly string[]): Leads {
  let reached = withEmptyStars(pattern, [0])
  for (const part of parts) {
    if (reached.includes(pattern.length)) return { below: true, above: false }
    const next = reached.flatMap(at => {
      const segment = pattern[at]
      if (segment === undefined) return []
      if (segment === '**') return [at]
      return matchName(segment, part) ? [at + 1] : []
    })
    reached = withEmptyStars(pattern, next)
  }
  const firstStars = pattern.indexOf('**')
  const literal = firstStars === -1 ? pattern.length : firstStars
  return { below: reached.includes(pattern.length), above: parts.length < literal && reached.includes(parts.length) }
}

// "**" may stand for no name at all: "a/**" matches a itself, "**/b" a b at the top
function withEmptyStars (pattern: readonly string[], places: readonly number[]): number[] {
  const reached = new Set<number>()
  for (let at of places) {
    reached.add(at)
    while (pattern[at] === '**') reached.add(++at)
  }
  return [...reached]
}

// two pointers with one step back to the latest star: quadratic at worst, on names of at most 255 bytes
function matchName (pattern: string, name: string): boolean {
  let [p, n, star, resume] = [0, 0, -1, 0]
  while (n < name.length) {
    if (pattern[p] === '*') [star, resume, p] = [p, n, p + 1]
    else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === name[n])) [p, n] = [p + 1, n + 1]
    else if (star !== -1) [p, n, resume] = [star + 1, resume + 1, resume + 1]
    else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
