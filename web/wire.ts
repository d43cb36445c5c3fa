/** Casts a response to its type without validation. The server serialises it with the schema that the type derives from. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the URL, and so the type
export function believed<Data>(data: unknown): Data {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return data as Data
}
