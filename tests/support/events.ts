/** One server-sent event as received. */
export interface ReceivedEvent {
  readonly name: string | undefined
  readonly data: string
}

/** Reads the events of a response as they arrive, without comments. */
export async function* readEvents(response: Response): AsyncGenerator<ReceivedEvent, void, void> {
  let text = ''
  const decoder = new TextDecoder()
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    for (const each of whole) if (!each.startsWith(':')) yield readEvent(each)
  }
  if (text !== '') throw new Error(`the answer ended inside of an event: ${text}`)
}

function readEvent(text: string): ReceivedEvent {
  const value = (field: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${field}: `))
      ?.slice(field.length + 2)
  return { name: value('event'), data: value('data') ?? '' }
}
