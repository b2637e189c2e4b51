// Pure: finds and replaces the images that a Dockerfile starts from. Understands FROM and ARG, passes everything else through.

/** One FROM of an image that is not another stage. */
interface Start {
  /** Line numbers of the instruction, end exclusive. */
  from: number
  to: number
  flags: string
  /** The image after ARGs are filled in; undefined: another stage or scratch. */
  image: string | undefined
  written: string
  alias: string
}

/** The images a build needs from outside, each once, in order of appearance; ARG defaults are filled in. */
export function externalImages (dockerfile: string): string[] {
  return [...new Set(findStarts(dockerfile).map(start => start.image).filter(image => image !== undefined))]
}

export interface RewriteOptions {
  /** Name in FROM → name to build from; what is missing stays as written. */
  images: ReadonlyMap<string, string>
  /** Build arguments that every stage gets as defaults: they are in the environment of RUN, not of the image. */
  args?: Readonly<Record<string, string>> | undefined
}

/** The Dockerfile with other images and with added ARGs after each FROM. */
export function rewriteDockerfile (dockerfile: string, { images, args = {} }: RewriteOptions): string {
  const lines = dockerfile.split('\n')
  const added = Object.entries(args).map(([name, value]) => `ARG ${name}=${value}`)
  for (const start of findStarts(dockerfile).reverse()) {
    const image = start.image === undefined ? undefined : images.get(start.image)
    const from = image === undefined ? lines.slice(start.from, start.to) : [`FROM ${start.flags}${image}${start.alias}`]
    lines.splice(start.from, start.to - start.from, ...from, ...added)
  }
  return lines.join('\n')
}

function findStarts (dockerfile: string): Start[] {
  const args = new Map<string, string>()
  const stages = new Set<string>()
  const starts: Start[] = []
  for (const { text, from, to } of instructions(dockerfile)) {
    const arg = /^ARG\s+([A-Za-z_]\w*)(?:=(.*))?$/is.exec(text)
    if (arg?.[1] !== undefined && starts.length === 0 && arg[2] !== undefined) args.set(arg[1], unquote(arg[2].trim()))
    const match = /^FROM\s+((?:--\S+\s+)*)(\S+)(\s+AS\s+(\S+))?\s*$/i.exec(text)
    if (match === null) continue
    const [, flags = '', written = '', alias = '', stage] = match
    const name = fillArgs(written, args)
    const inside = stages.has(name.toLowerCase()) || name === 'scratch'
    starts.push({ from, to, flags, written, alias, image: inside ? undefined : name })
    if (stage !== undefined) stages.add(stage.toLowerCase())
  }
  return starts
}

/** Instructions with their continuation lines joined; a FROM inside a continued RUN is not one. */
function * instructions (dockerfile: string): Generator<{ text: string, from: number, to: number }> {
  const lines = dockerfile.split('\n').map(line => line.replace(/\r$/, ''))
  let from = 0
  let parts: string[] = []
  for (const [at, line] of lines.entries()) {
    if (/^\s*#/.test(line) || (parts.length > 0 && line.trim() === '')) continue // comments and blanks do not end a continuation
    if (parts.length === 0) from = at
    const continued = /\\\s*$/.test(line)
    parts.push(continued ? line.replace(/\\\s*$/, '') : line)
    if (continued && at < lines.length - 1) continue
    yield { text: parts.join(' ').trim(), from, to: at + 1 }
    parts = []
  }
}

/** $NAME, ${NAME}, ${NAME:-default}, ${NAME-default}, with the defaults of ARGs before the first FROM. */
function fillArgs (text: string, args: ReadonlyMap<string, string>): string {
  return text
    .replace(/\$\{([A-Za-z_]\w*)(?::?-([^}]*))?\}/g, (_whole, name: string, fallback = '') => args.get(name) ?? String(fallback))
    .replace(/\$([A-Za-z_]\w*)/g, (_whole, name: string) => args.get(name) ?? '')
}

function unquote (text: string): string {
  return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text
}
