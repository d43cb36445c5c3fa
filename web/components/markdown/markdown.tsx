import { useMemo, type ReactNode } from 'react'
import classes from './markdown.module.css'
import {
  isSafeLink,
  parseMarkdown,
  sourceOf,
  splitAtAddresses,
  type MarkdownNode,
} from '../../../src/platform/text/markdown.ts'

/** A person's text, with its paragraphs, lists, emphasis and links. Line breaks are kept; HTML is shown as text. */
export function Markdown({ text }: { readonly text: string }) {
  const shown = useMemo(() => parseMarkdown(text).children.map((node) => render(node, text)), [text])
  return <div className={classes.text}>{shown}</div>
}

/** The headings of a text are below that of its entry. */
const headings = { 1: 'h4', 2: 'h5', 3: 'h6', 4: 'h6', 5: 'h6', 6: 'h6' } as const

function render(node: MarkdownNode, text: string): ReactNode {
  const key = node.position?.start.offset ?? 0
  const inside = () => ('children' in node ? node.children.map((child) => render(child, text)) : [])
  switch (node.type) {
    case 'paragraph':
      return <p key={key}>{inside()}</p>
    case 'heading': {
      const Heading = headings[node.depth]
      return <Heading key={key}>{inside()}</Heading>
    }
    case 'blockquote':
      return <blockquote key={key}>{inside()}</blockquote>
    case 'list':
      return node.ordered ? (
        <ol key={key} start={node.start ?? 1}>
          {inside()}
        </ol>
      ) : (
        <ul key={key}>{inside()}</ul>
      )
    case 'listItem':
      return <li key={key}>{inside()}</li>
    case 'strong':
      return <strong key={key}>{inside()}</strong>
    case 'emphasis':
      return <em key={key}>{inside()}</em>
    case 'break':
      return '\n'
    case 'link':
      if (!isSafeLink(node.url)) return sourceOf(node, text)
      return (
        <Outside key={key} target={node.url}>
          {inside()}
        </Outside>
      )
    case 'text':
      return withLinks(node.value, key)
    default:
      return sourceOf(node, text)
  }
}

/** Addresses within a text become links. */
function withLinks(text: string, start: number): ReactNode[] {
  return splitAtAddresses(text).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- the parts never move
      <Outside key={`${start}-${index}`} target={part}>
        {part}
      </Outside>
    ),
  )
}

/** A link to another site, which learns nothing about this page. */
function Outside({ target, children }: { readonly target: string; readonly children: ReactNode }) {
  return (
    <a href={target} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}
