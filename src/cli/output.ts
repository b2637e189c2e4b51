// Lines, tables and progress for a terminal of 100 columns or a log file. Knows nothing of what it prints.

export interface Output {
  line (text?: string): void
  /** Runs work behind one progress line that ends with what done says and the seconds it took. */
  step<T> (label: string, work: (say: Say) => Promise<T>, done: (result: T) => string): Promise<T>
}

export type Say = (detail: string) => void

export interface OutputOptions {
  stream: NodeJS.WritableStream & { isTTY?: boolean | undefined }
  now?: () => number
}

/** On a terminal a running step is one line that changes; in a log it is written at its end, and every 15 s until then. */
export function createOutput ({ stream, now = () => performance.now() }: OutputOptions): Output {
  const isLive = stream.isTTY === true
  const write = (text: string): void => { stream.write(text) }
  return {
    line: (text = '') => write(`${text}\n`),
    async step (label, work, done) {
      const startedAt = now()
      let detail = '…'
      const draw = (): void => write(`\r\u001b[2K${progressLine(label, detail, now() - startedAt)}`)
      const beat = (): void => isLive ? draw() : write(`${progressLine(label, detail, now() - startedAt)}\n`)
      const timer = setInterval(beat, isLive ? LIVE_MS : LOG_MS)
      const end = (text: string): void => {
        clearInterval(timer)
        write(`${isLive ? '\r\u001b[2K' : ''}${progressLine(label, text, now() - startedAt)}\n`)
      }
      try {
        if (isLive) draw()
        const result = await work(text => {
          detail = text
          if (isLive) draw()
        })
        end(done(result))
        return result
      } catch (error) {
        end('failed')
        throw error
      }
    },
  }
}

/** "label   detail          1.2 s", at most WIDTH columns. */
export function progressLine (label: string, detail: string, elapsedMs: number): string {
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(8)
  const room = WIDTH - LABEL_WIDTH - seconds.length - 2
  return `  ${fit(label, LABEL_WIDTH - 2)}  ${fit(oneLine(detail), room)}${seconds}`
}

export interface TableOptions {
  /** Columns whose cells stand at the right edge; by index. */
  right?: readonly number[] | undefined
  indent?: string | undefined
}

/** Rows as aligned lines; the first row is the header and is underlined. */
export function table (rows: readonly (readonly string[])[], { right = [], indent = '  ' }: TableOptions = {}): string[] {
  const columns = Math.max(0, ...rows.map(row => row.length))
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)))
  const lines = rows.map(row => indent + widths
    .map((width, at) => right.includes(at) ? (row[at] ?? '').padStart(width) : (row[at] ?? '').padEnd(width))
    .join('  ').trimEnd())
  const [header, ...body] = lines
  return header === undefined ? [] : [header, indent + widths.map(width => '─'.repeat(width)).join('  '), ...body]
}

export function formatMs (ms: number): string {
  if (!Number.isFinite(ms)) return '–'
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`
}

function fit (text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width)
}

function oneLine (text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
}

export const WIDTH = 100
const LABEL_WIDTH = 29
const LIVE_MS = 200
const LOG_MS = 15_000
