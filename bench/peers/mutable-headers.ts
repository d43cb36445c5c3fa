// Loaded before Portkey's gateway, which sets headers on the answer that it streams. With the newer servers of Hono that
// its range allows, those are the headers of what `fetch` gave it, which nobody may change, and every stream is a 500.

const { fetch: fetchAsItIs, Response } = globalThis

globalThis.fetch = async function fetchWithHeadersToChange(...args) {
  const answer = await fetchAsItIs(...args)
  const isStream = answer.headers.get('content-type') === 'text/event-stream'
  return isStream ? new Response(answer.body, answer) : answer
}
