/** What the server sends. It checks that against the schema that the type comes from; here it is believed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the address, and so the type
export function believed<Data>(data: unknown): Data {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return data as Data
}
