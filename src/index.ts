// What a library user may import: start a server in this process, its settings, and the errors it throws.
export { startServer, type AssayServer } from './server.ts'
export { Config, loadConfig } from './config.ts'
export { AssayError, CODES, isAssayError, type CodeInfo, type ErrorCode } from './errors.ts'
export type { Service, Context, Principal, Connection } from './service/service.ts'
export type { Engine, Sandbox, SandboxSpec } from './sandbox/engine.ts'
