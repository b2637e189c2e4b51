// The logger that is passed around: pino's shape, and a silent one.

type Write = (fields: Record<string, unknown>, message: string) => void

export interface Logger {
  debug: Write
  info: Write
  warn: Write
  error: Write
  child (fields: Record<string, unknown>): Logger
}

export const silentLogger: Logger = {
  debug () {},
  info () {},
  warn () {},
  error () {},
  child: () => silentLogger,
}
