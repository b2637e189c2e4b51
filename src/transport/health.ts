// What probes and scrapers ask: is the process up, does it take work, its metrics. Needs no key and shows no ids.
import type { FastifyInstance } from 'fastify'
import type { Service } from '../service/service.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface HealthDeps {
  service: Service
  metrics: Metrics
}

export function addHealthRoutes (app: FastifyInstance, { service, metrics }: HealthDeps): void {
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async (_request, reply) => {
    const ready = service.ready()
    return await reply.status(ready.ok ? 200 : 503).send(ready)
  })
  app.get('/metrics', async (_request, reply) => {
    return await reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}
