// Reads the tiny command language of the fake engine: words, quotes, redirections, && || ; and newlines. Pure.

export interface Redirection {
  fd: 1 | 2
  isAppend: boolean
  /** undefined: the other stream. */
  path: string | undefined
}

export interface SimpleCommand {
  /** How it is joined to the one before. */
  join: 'always' | 'and' | 'or'
  assignments: Record<string, string>
  words: string[]
  redirections: Redirection[]
}

type Token = { type: 'word', text: string, isQuoted: boolean } | { type: 'operator', text: string }

/** undefined: a quote is not closed, or the text has a character that this language does not know. Variables are replaced by lookup. */
export function parseScript (text: string, lookup: (name: string) => string): SimpleCommand[] | undefined {
  const tokens = tokenize(text, lookup)
  if (tokens === undefined) return undefined
  const commands: SimpleCommand[] = []
  let join: SimpleCommand['join'] = 'always'
  let current: Token[] = []
  const flush = (): void => {
    if (current.length > 0) commands.push(build(current, join))
    current = []
  }
  for (const token of tokens) {
    if (token.type === 'word' || REDIRECTIONS.has(token.text)) {
      current.push(token)
      continue
    }
    flush()
    join = token.text === '&&' ? 'and' : token.text === '||' ? 'or' : 'always'
  }
  flush()
  return commands
}

function build (tokens: readonly Token[], join: SimpleCommand['join']): SimpleCommand {
  const command: SimpleCommand = { join, assignments: {}, words: [], redirections: [] }
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined) break
    const assignment = token.type === 'word' && command.words.length === 0 ? /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(token.text) : null
    if (token.type === 'operator') {
      if (token.text === '>&2') command.redirections.push({ fd: 1, isAppend: false, path: undefined })
      else if (token.text === '2>&1') command.redirections.push({ fd: 2, isAppend: false, path: undefined })
      else command.redirections.push({ fd: token.text.startsWith('2') ? 2 : 1, isAppend: token.text.endsWith('>>'), path: tokens[++at]?.text ?? '' })
    } else if (assignment !== null) command.assignments[assignment[1] ?? ''] = assignment[2] ?? ''
    else command.words.push(token.text)
  }
  return command
}

function tokenize (text: string, lookup: (name: string) => string): Token[] | undefined {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at, at + 4)
    const operator = OPERATORS.find(one => rest.startsWith(one))
    if (operator !== undefined) {
      tokens.push({ type: 'operator', text: operator })
      at += operator.length
    } else if (/\s/.test(text[at] ?? '')) at++
    else {
      const word = readWord(text, at, lookup)
      if (word === undefined || word.end === at) return undefined // e.g. "<", which this language does not have
      if (word.text !== '' || word.isQuoted) tokens.push({ type: 'word', text: word.text, isQuoted: word.isQuoted })
      at = word.end
    }
  }
  return tokens
}

interface Word { text: string, isQuoted: boolean, end: number }

function readWord (text: string, start: number, lookup: (name: string) => string): Word | undefined {
  const word: Word = { text: '', isQuoted: false, end: start }
  while (word.end < text.length && !/[\s;&|><]/.test(text[word.end] ?? '')) {
    const char = text[word.end]
    if (char === '\'') {
      const close = text.indexOf('\'', word.end + 1)
      if (close === -1) return undefined
      word.text += text.slice(word.end + 1, close)
      word.isQuoted = true
      word.end = close + 1
    } else if (char === '"') {
      const close = findDoubleQuote(text, word.end + 1)
      if (close === -1) return undefined
      word.text += expand(text.slice(word.end + 1, close), lookup)
      word.isQuoted = true
      word.end = close + 1
    } else {
      const plain = /^(?:\\[\s\S]|[^\s;&|><'"\\])+/.exec(text.slice(word.end))?.[0] ?? char ?? ''
      word.text += expand(plain, lookup)
      word.end += plain.length
    }
  }
  return word
}

function findDoubleQuote (text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return -1
}

function expand (text: string, lookup: (name: string) => string): string {
  return text.replace(/\\[\s\S]|\$\{\w+\}|\$(?:\w+|\?)/g, match =>
    match.startsWith('\\') ? match.slice(1) : lookup(match.replace(/^\$\{?|\}$/g, '')))
}

const REDIRECTIONS = new Set(['2>&1', '2>>', '2>', '>&2', '1>&2', '>>', '>'])
const OPERATORS = ['2>&1', '2>>', '2>', '>&2', '>>', '>', '&&', '||', ';', '\n', '&', '|']
