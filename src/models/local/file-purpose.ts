import type { ModelKind } from '../../platform/config/config.ts'

/** What a model file makes, as far as its header tells. */
export type FilePurpose = ModelKind | 'ranking' | 'unknown'

interface HeaderFacts {
  readonly architecture: string
  /** `pooling_type` of llama.cpp: how it makes one vector of a text. 0: not at all. */
  readonly pooling: number | undefined
  readonly hasChatTemplate: boolean
}

/** Architectures of llama.cpp that generate no text. */
const encoders: ReadonlySet<string> = new Set([
  'bert',
  'eurobert',
  'gemma-embedding',
  'jina-bert-v2',
  'jina-bert-v3',
  'modern-bert',
  'neo-bert',
  'nomic-bert',
  'nomic-bert-moe',
  't5encoder',
])
const rankPooling = 4

/** Some embedding models were made from text models and kept their chat template: the pooling type decides. */
export function purposeOf({ architecture, pooling = 0, hasChatTemplate }: HeaderFacts): FilePurpose {
  if (pooling === rankPooling) return 'ranking'
  if (pooling > 0 || encoders.has(architecture)) return 'embeddings'
  return hasChatTemplate ? 'text' : 'unknown'
}

/** Why a file of this purpose cannot be a model of this kind, and what to do. Undefined if it may be one. */
export function mismatch(purpose: FilePurpose, kind: ModelKind): string | undefined {
  if (purpose === 'unknown' || purpose === kind) return undefined
  if (purpose === 'ranking') return 'is of a reranker, which makes neither text nor embeddings. Use another model'
  return purpose === 'embeddings'
    ? 'makes embeddings, not text. Set kind: embeddings for this model'
    : 'makes text, not embeddings. Remove kind: embeddings from this model, or use the file of an embedding model'
}
