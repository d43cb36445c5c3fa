// A reporter for node:test that writes nothing but the totals of the run, as JSON, for check.js.
export default async function* counts(events) {
  for await (const { type, data } of events) {
    // The summaries of single files name them; the run's own does not.
    if (type === 'test:summary' && data.file === undefined) yield JSON.stringify(data.counts)
  }
}
