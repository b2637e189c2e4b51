// Whether what a case produced is what it should: pure, bounded, and never evaluating anything. Knows nothing of sandboxes.
// Numbers are doubles: integers past 2^53 should travel as text.
import { assertNever } from '../../base/assert-never.ts'
import type { Expectation } from '../../tasks/cases.ts'
import { matchesWhole } from '../../tasks/patterns.ts'

/** What a call came to, as its runner reported it. */
export type Outcome =
  | { kind: 'value', value: unknown }
  | { kind: 'error', type: string, message: string }

export const COMPARE_LIMITS = { depth: 200, textCharacters: 65_536 } as const

/** Why the outcome is not as expected, or undefined. value is plain JSON. */
export function compareOutcome (expected: Expectation, outcome: Outcome): string | undefined {
  if (expected.kind === 'throws') return compareError(expected, outcome)
  if (outcome.kind === 'error') return `raised ${outcome.type}: ${preview(outcome.message)}`
  return compareValue(expected, outcome.value)
}

/** The same for a stream of text: text against a string, or as a pattern; any other value against the text read as JSON. */
export function compareText (expected: Expectation, text: string): string | undefined {
  const isText = expected.kind === 'matches' || (expected.kind === 'equals' && typeof expected.value === 'string')
  if (isText) return compareValue(expected, text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return `is not JSON: ${preview(text)}` // where the parser stopped would not help the author more
  }
  return compareOutcome(expected, { kind: 'value', value })
}

function compareValue (expected: Exclude<Expectation, { kind: 'throws' }>, value: unknown): string | undefined {
  const oddity = findOddity(value)
  if (oddity !== undefined) return oddity
  switch (expected.kind) {
    case 'equals': return isEqual(expected.value, value, isSameNumber) ? undefined : differs(expected.value, value)
    case 'approx': return isEqual(expected.value, value, closeTo(expected)) ? undefined : differs(expected.value, value)
    case 'set': return isSameBag(expected.values, value) ? undefined : differs(expected.values, value)
    case 'matches': return compareMatch(expected.pattern, value)
    default: return assertNever(expected)
  }
}

function compareError (expected: Extract<Expectation, { kind: 'throws' }>, outcome: Outcome): string | undefined {
  if (outcome.kind === 'value') return `returned ${preview(outcome.value)} instead of raising ${expected.type}`
  if (outcome.type !== expected.type) return `raised ${outcome.type} instead of ${expected.type}`
  if (expected.message === undefined || outcome.message.includes(expected.message)) return undefined
  return `the message ${preview(outcome.message)} does not contain ${preview(expected.message)}`
}

function compareMatch (pattern: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return `is not text: ${preview(value)}`
  const limit = COMPARE_LIMITS.textCharacters
  if (value.length > limit) return `is longer than the ${limit} characters that a pattern may see`
  return matchesWhole(pattern, value) ? undefined : `does not match ${pattern}: ${preview(value)}`
}

type SameNumber = (a: number, b: number) => boolean

const isSameNumber: SameNumber = (a, b) => a === b

// depth is bounded by findOddity: recursion stops where the expected value ends
function isEqual (a: unknown, b: unknown, same: SameNumber): boolean {
  if (typeof a === 'number' && typeof b === 'number') return same(a, b)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => isEqual(item, b[index], same))
  }
  if (!isRecord(a) || !isRecord(b)) return a === b
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && isEqual(a[key], b[key], same))
}

function closeTo ({ relative, absolute }: { relative: number, absolute: number }): SameNumber {
  return (a, b) => Math.abs(a - b) <= Math.max(relative * Math.max(Math.abs(a), Math.abs(b)), absolute)
}

function isSameBag (expected: readonly unknown[], value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== expected.length) return false
  const counts = new Map<string, number>()
  for (const item of expected) counts.set(canonical(item), (counts.get(canonical(item)) ?? 0) + 1)
  return value.every(item => {
    const left = counts.get(canonical(item)) ?? 0
    counts.set(canonical(item), left - 1)
    return left > 0
  })
}

function canonical (value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => isRecord(inner)
    ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
    : inner)
}

/** JSON.parse makes Infinity of 1e999, which would be close to everything. */
function findOddity (value: unknown): string | undefined {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= COMPARE_LIMITS.depth; depth++) {
    if (level.some(item => typeof item === 'number' && !Number.isFinite(item))) return 'holds a number past the range of doubles'
    level = level.flatMap(item => typeof item === 'object' && item !== null ? Object.values(item) : [])
    if (level.length === 0) return undefined
  }
  return `is nested deeper than ${COMPARE_LIMITS.depth}`
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function differs (expected: unknown, value: unknown): string {
  return `expected ${preview(expected)}, got ${preview(value)}`
}

function preview (value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text
}

const PREVIEW = 300
