import { isJsonObject, type Json } from '../../src/platform/text/json.ts'
import { startService, upstreamModel } from '../../tests/support/service.ts'

/** The OpenAPI document of an instance, whose model is never called. */
export async function readOpenApi(): Promise<Json> {
  const service = await startService({ models: [upstreamModel('http://127.0.0.1:9')] })
  const document: unknown = service.app.swagger()
  await service.close()
  return isJsonObject(document) ? document : {}
}
