import type { Letter } from '../../../src/clients/schema.ts'
import type { NewDraft, ShownCheck, ShownDraft, Template } from '../../../src/drafting/schema.ts'

/** One generation for a letter. Tokens, cost and stop reason are null until it is charged. */
export type Draft = ShownDraft

export interface DraftList {
  readonly drafts: readonly Draft[]
}

/** A person's instructions to a model. */
export type DraftRequest = NewDraft & {
  readonly notes: string[]
  readonly disputes: string[]
  readonly documents: NonNullable<NewDraft['documents']>
}

export interface Finished {
  readonly draft: Draft
  readonly letter: Letter | null
}

export type Check = ShownCheck

export type { Template }

export interface TemplateList {
  readonly templates: readonly Template[]
}
