import type { Letter } from '../../../src/clients/schema.ts'

/** One generation for a letter. Tokens, cost and stop reason are null until it is charged. */
export interface Draft {
  readonly id: string
  readonly status: 'running' | 'complete' | 'stopped' | 'failed'
  readonly instructions: string
  readonly sources: readonly DraftSource[]
  readonly subject: string | null
  readonly model: string
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cost: string | null
  readonly currency: string
  readonly stop_reason: string | null
  readonly failure: string | null
  readonly letter_id: string | null
  readonly created_at: string
  readonly created_by: { readonly id: string; readonly name: string } | null
  readonly finished_at: string | null
}

export interface DraftSource {
  readonly kind: 'note' | 'dispute'
  readonly id: string
  readonly version: number
  readonly title: string
}

export interface DraftList {
  readonly drafts: readonly Draft[]
}

/** What a person asks a model to write. */
export interface DraftRequest {
  readonly instructions: string
  readonly notes: readonly string[]
  readonly disputes: readonly string[]
  readonly subject?: string
  /** The letter to write anew. */
  readonly letter?: string
}

export interface Finished {
  readonly draft: Draft
  readonly letter: Letter | null
}

export interface Template {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly instructions: string
  readonly is_default: boolean
  readonly version: number
  readonly updated_at: string
  readonly updated_by: { readonly id: string; readonly name: string } | null
}

export interface TemplateList {
  readonly templates: readonly Template[]
}
