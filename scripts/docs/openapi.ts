import { startService, upstreamModel } from '../../tests/support/service.ts'

/** The OpenAPI document of an instance, whose model is never called. */
export async function readOpenApi(): Promise<unknown> {
  const service = await startService({ models: [upstreamModel('http://127.0.0.1:9')] })
  const document = service.app.swagger()
  await service.close()
  return document
}
