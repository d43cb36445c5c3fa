/** An object with its revisions, as JSON in pieces. */
export async function* objectOf(value: object, revisions: AsyncIterable<object>): AsyncGenerator<string> {
  yield `${JSON.stringify(value, null, 2).slice(0, -2)},\n  "revisions": [`
  let separator = '\n'
  for await (const revision of revisions) {
    yield `${separator}${JSON.stringify(revision, null, 2)}`
    separator = ',\n'
  }
  yield ']\n}'
}

/** A list of notes, disputes or letters, each with its revisions, as JSON in pieces. */
export async function* itemsOf(
  items: readonly { readonly id: string }[],
  revisionsOf: (id: string) => AsyncIterable<object>,
): AsyncGenerator<string> {
  yield '['
  let separator = '\n'
  for (const item of items) {
    yield separator
    yield* objectOf(item, revisionsOf(item.id))
    separator = ',\n'
  }
  yield ']\n'
}
