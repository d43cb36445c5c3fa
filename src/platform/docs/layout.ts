import { escapeHtml } from './html.ts'

/** The URLs of the files that every page loads. */
export interface PageFiles {
  readonly style: string
  readonly script: string
  readonly icon: string
}

interface PageParts {
  readonly title: string
  /** HTML. */
  readonly main: string
  /** HTML. */
  readonly navigation: string
  readonly files: PageFiles
}

/** The content security policy of the pages: our own files and calls, no inline code, nothing from other origins. */
export const docPagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A whole page. On a narrow screen the navigation is a popover, which needs no script. */
export function renderPage({ title, main, navigation, files }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tollgate</title>
<link rel="icon" href="${files.icon}">
<link rel="stylesheet" href="${files.style}">
<script src="${files.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="wordmark" href="/docs"><img src="${files.icon}" alt="" width="22" height="22">Tollgate <span>API</span></a>
<button class="menu" type="button" popovertarget="navigation">Menu</button>
</header>
<nav id="navigation" popover aria-label="Documentation">
${navigation}
</nav>
<main id="main" tabindex="-1">
${main}
</main>
</body>
</html>
`
}
