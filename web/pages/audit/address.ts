/** Whether the page with these parameters shows views: not by default, unless an action is chosen. */
export function includesViews(parameters: URLSearchParams): boolean {
  return parameters.has('action') || parameters.get('views') === 'true'
}

/** The URL of the JSON for the page with these parameters. JSON has views by default. */
export function auditAddress(parameters: URLSearchParams): string {
  const asked = new URLSearchParams(parameters)
  asked.set('views', String(includesViews(parameters)))
  return `/audit?${asked.toString()}`
}
