import assert from 'node:assert/strict'
import { parseObject, type Json } from './json.ts'
import type { Service } from './service.ts'

/** A line of a file for a batch of chat completions. */
export const batchLine = (customId: string, body: object = {}, rest: object = {}): string =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'fast', messages: [{ role: 'user', content: `Hello ${customId}` }], max_tokens: 10, ...body },
    ...rest,
  })

/** The id of the row of a batch that has this id. */
export const uuidOf = (shown: string): string => shown.replace(/^.*_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Uploads a file for a batch. Returns its id. */
export async function uploadLines(
  { url }: Pick<Service, 'url'>,
  key: string,
  lines: readonly string[],
): Promise<string> {
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', new Blob([lines.join('\n')]), 'lines.jsonl')
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return String(parseObject(text)['id'])
}

/** Queues a batch of chat completions. */
export async function createBatch(
  service: Pick<Service, 'url'>,
  key: string,
  lines: readonly string[],
): Promise<Json & { readonly id: string }> {
  const asked = { input_file_id: await uploadLines(service, key, lines), endpoint: '/v1/chat/completions' }
  const response = await fetch(`${service.url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, completion_window: '24h' }),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const json = parseObject(text)
  return { ...json, id: String(json['id']) }
}
