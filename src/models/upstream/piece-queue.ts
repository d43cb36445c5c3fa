import type { Delta } from '../conversation.ts'
import type { ScoredText } from '../model.ts'
import type { ReplyPiece } from './relay.ts'
import type { OrderedPiece } from './chat/reply-order.ts'

/** Pieces of a reply that have not been read. Neighbours of the same kind are read together. */
export interface PieceQueue {
  /** `choice`: undefined for the first. */
  readonly push: (piece: OrderedPiece, choice?: number) => void
  next(): ReplyPiece | undefined
  readonly isEmpty: boolean
}

type Growing =
  | { readonly kind: 'texts'; readonly texts: string[]; readonly choice?: number }
  | { readonly kind: 'deltas'; readonly deltas: Delta[]; readonly choice?: number }
  | ScoredText

const ofChoice = (piece: Growing, choice: number | undefined): Growing =>
  choice === undefined ? piece : { ...piece, choice }

export function createPieceQueue(): PieceQueue {
  const pieces: Growing[] = []
  return {
    push(piece, choice) {
      const latest = pieces.at(-1)
      const last = latest?.choice === choice ? latest : undefined
      if (typeof piece === 'string') {
        if (last?.kind === 'texts') last.texts.push(piece)
        else pieces.push(ofChoice({ kind: 'texts', texts: [piece] }, choice))
      } else if (piece.kind === 'scored') pieces.push(ofChoice(piece, choice))
      else if (last?.kind === 'deltas') last.deltas.push(piece)
      else pieces.push(ofChoice({ kind: 'deltas', deltas: [piece] }, choice))
    },
    next: () => pieces.shift(),
    get isEmpty() {
      return pieces.length === 0
    },
  }
}
