import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Type } from 'typebox'
import { createServer } from '../http/http.ts'
import { answers, registerOpenApi, type Operation } from '../http/openapi.ts'
import { registerDocs } from './docs.ts'

const hostile = `</code></pre><script>alert(1)</script><img src=x onerror="alert(2)">'$(id)`

/** The pages of a service with one operation, all of whose texts are hostile. */
async function pagesWith(model: string) {
  const log = pino({ level: 'silent' })
  const baseUrl = 'https://tollgate.test'
  const server = createServer({ log, baseUrl, requestBytes: 1000 })
  await registerOpenApi(server, { baseUrl })
  const body = Type.Object({
    model: Type.String({ description: hostile, examples: ['default'] }),
    [hostile]: Type.String({ description: hostile, examples: [hostile] }),
  })
  const operation: Operation<typeof body> = {
    operationId: 'hostile',
    summary: hostile,
    description: hostile,
    tags: [hostile],
    body,
    response: {
      200: answers(Type.Object({ [hostile]: Type.Literal(hostile) }), hostile, { [hostile]: Type.String() }),
    },
  }
  server.post('/v1/hostile', { schema: operation }, async () => ({}))
  registerDocs(server, { baseUrl, sampleModel: () => model, tryItUrl: '/try' })
  await server.ready()
  return {
    close: () => server.close(),
    page: async (url: string) => (await server.inject(url)).payload,
  }
}

test('texts of the document and ids of models are escaped', async () => {
  const { page, close } = await pagesWith(hostile)
  for (const url of ['/docs', '/docs/clients', '/docs/api', '/docs/api/hostile']) {
    const html = await page(url)
    assert.match(html, /&#60;script&#62;alert\(1\)&#60;\/script&#62;/, url)
    assert.doesNotMatch(html, /<script>|<img src=x|onerror="alert/, url)
  }
  await close()
})

test('a shell does not run what an example contains', async () => {
  const { page, close } = await pagesWith('default')
  const html = await page('/docs/api/hostile')
  const [, shell = ''] = /<figcaption>curl<\/figcaption><pre tabindex="0"><code>([^<]+)</.exec(html) ?? []
  assert.match(shell, /-d '\{[^']+default[^']+'\\''\$\(id\)[^']+'\\''\$\(id\)[^']+\}'$/)
  await close()
})

test('samples name a model that exists', async () => {
  const { page, close } = await pagesWith('fast')
  for (const url of ['/docs', '/docs/api/hostile']) {
    const html = await page(url)
    assert.match(html, /"model": "fast"|&#34;model&#34;: &#34;fast&#34;/, url)
    assert.doesNotMatch(html, /&#34;default&#34;|'default'/, url)
  }
  await close()
})
