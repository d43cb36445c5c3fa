// Loaded before Portkey's gateway, which sets headers on the response that it streams. With newer Hono servers within its
// version range these are the immutable headers of the `fetch` response, and every stream fails with 500.

const { fetch: originalFetch, Response } = globalThis

globalThis.fetch = async function fetchWithMutableHeaders(...args) {
  const response = await originalFetch(...args)
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  return isStream ? new Response(response.body, response) : response
}
