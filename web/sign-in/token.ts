/** The token of a mailed link. Only this page sees it: browsers do not send the fragment. */
export const token = takeToken()

/** Removes it from the address bar, so that it is not in the history, a bookmark or a screenshot. */
function takeToken(): string {
  const taken = location.hash.slice(1)
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  return taken
}
