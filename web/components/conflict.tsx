import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { isSame, meansSame, type Field, type Value } from '../fields.ts'
import classes from './conflict.module.css'
import type { Conflict, Draft } from './draft.ts'
import { bothTexts } from './both-texts.ts'
import { differences } from './differences.ts'
import { usePeople } from './people-names.ts'

/** Shows both versions side by side after a conflict. The person chooses one for each field, or both of a text. */
export function ConflictDialog({ draft }: { readonly draft: Draft }) {
  const { conflict, fields, values, base, postpone, resolve } = draft
  return (
    <Modal
      opened={conflict !== undefined}
      onClose={postpone}
      size="xl"
      title={
        conflict?.isOwn
          ? 'You saved this on another page while you were writing here'
          : `${conflict?.by ?? 'Someone else'} saved this while you were writing`
      }
      closeButtonProps={{ 'aria-label': 'Keep writing' }}
    >
      {conflict && <Choices {...{ conflict, fields, values, base, postpone, resolve }} />}
    </Modal>
  )
}

type Side = 'mine' | 'theirs' | 'both'

interface ChoicesProps extends Pick<Draft, 'fields' | 'values' | 'base' | 'postpone' | 'resolve'> {
  readonly conflict: Conflict
}

function Choices({ conflict, fields, values, base, postpone, resolve }: ChoicesProps) {
  const { theirs, isOwn } = conflict
  const open = fields.filter((field) => !meansSame(field, values[field.name], theirs[field.name]))
  const people = usePeople(open.some(({ kind }) => kind === 'consultant'))
  const names = Object.fromEntries(people.map(({ id, name }) => [id, name]))
  const [sides, setSides] = useState<Readonly<Record<string, Side>>>(() =>
    Object.fromEntries(open.map(({ name }) => [name, isSame(values[name], base[name]) ? 'theirs' : 'mine'])),
  )

  const isToBeEdited = open.some(({ name }) => sides[name] === 'both')
  function choose() {
    const chosen = fields.map(({ name }) => [name, chosenOf(sides[name], values[name], theirs[name])] as const)
    resolve(Object.fromEntries(chosen), isToBeEdited ? 'edit' : 'save')
  }

  return (
    <>
      <p>
        {isOwn
          ? 'Your text here is not saved yet.'
          : 'Your changes are not saved yet. Theirs are kept as a version either way.'}{' '}
        Choose which version to keep
        {open.some(({ name, kind }) => canBeBoth(kind, values[name], theirs[name])) &&
          ', or keep both and edit the text before you save it'}
        .
      </p>
      {open.map((field) => (
        <Choice
          key={field.name}
          field={field.kind === 'consultant' ? { ...field, choices: names } : field}
          mine={values[field.name] ?? ''}
          theirs={theirs[field.name] ?? ''}
          title={savedTitle(conflict)}
          side={sides[field.name] ?? 'mine'}
          onChoose={(side) => setSides({ ...sides, [field.name]: side })}
        />
      ))}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={postpone}>
          Keep writing
        </Button>
        <Button onClick={choose}>{isToBeEdited ? 'Edit selection' : 'Save selection'}</Button>
      </Group>
    </>
  )
}

function savedTitle({ by, isOwn }: Conflict): string {
  if (isOwn) return 'Saved'
  return by ? `${by}’s` : 'Theirs'
}

/** Two texts can be edited into one. */
const canBeBoth = (kind: Field['kind'], mine: Value | undefined, theirs: Value | undefined) =>
  kind === 'text' && [mine, theirs].every((text) => typeof text === 'string' && text.trim() !== '')

function chosenOf(side: Side | undefined, mine: Value = '', theirs: Value = ''): Value {
  if (side === 'both' && typeof mine === 'string' && typeof theirs === 'string') return bothTexts(theirs, mine)
  return side === 'mine' ? mine : theirs
}

interface ChoiceProps {
  readonly field: Field
  readonly mine: Value
  readonly theirs: Value
  /** The heading of the saved version. */
  readonly title: string
  readonly side: Side
  readonly onChoose: (side: Side) => void
}

function Choice({ field, mine, theirs, title, side, onChoose }: ChoiceProps) {
  const parts = differences(textOf(field, theirs), textOf(field, mine))
  const versions = [
    { side: 'mine', title: 'Yours', shown: parts.filter(({ kind }) => kind !== 'removed') },
    { side: 'theirs', title, shown: parts.filter(({ kind }) => kind !== 'added') },
  ] as const
  return (
    <fieldset className={classes.choice}>
      <legend>{field.label}</legend>
      {versions.map((version) => (
        <label key={version.side} className={classes.version}>
          <span className={classes.title}>
            <input
              type="radio"
              name={field.name}
              checked={side === version.side}
              onChange={() => onChoose(version.side)}
            />
            {version.title}
          </span>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long text scrolls, also by keyboard */}
          <span ref={showFirstMark} className={classes.text} tabIndex={0}>
            {version.shown.map(({ kind, text, key }) => (kind === 'same' ? text : <mark key={key}>{text}</mark>))}
          </span>
        </label>
      ))}
      {canBeBoth(field.kind, mine, theirs) && (
        <label className={`${classes.version} ${classes.both}`}>
          <span className={classes.title}>
            <input type="radio" name={field.name} checked={side === 'both'} onChange={() => onChoose('both')} />
            Both, to edit before saving
          </span>
        </label>
      )}
    </fieldset>
  )
}

/** Scrolls a long text to its first difference, with a line of what is before it. */
function showFirstMark(text: HTMLElement | null): void {
  const mark = text?.querySelector('mark')
  if (!text || !mark) return
  const below = mark.getBoundingClientRect().top - text.getBoundingClientRect().top
  text.scrollTop += below - lineHeight(text) * 1.5
}

const lineHeight = (text: HTMLElement) => Number.parseFloat(getComputedStyle(text).lineHeight)

function textOf({ choices }: Field, value: Value): string {
  if (typeof value !== 'string') return value.join('\n')
  return choices?.[value] ?? value
}
