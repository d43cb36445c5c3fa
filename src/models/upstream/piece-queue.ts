import type { Delta } from '../conversation.ts'
import type { ReplyPiece } from './relay.ts'
import type { OrderedPiece } from './chat/reply-order.ts'

/** Pieces of a reply that have not been read. Neighbours of the same kind are read together. */
export interface PieceQueue {
  readonly push: (piece: OrderedPiece) => void
  next(): ReplyPiece | undefined
  readonly isEmpty: boolean
}

type Growing =
  | { readonly kind: 'texts'; readonly texts: string[] }
  | { readonly kind: 'deltas'; readonly deltas: Delta[] }

export function createPieceQueue(): PieceQueue {
  const pieces: Growing[] = []
  return {
    push(piece) {
      const last = pieces.at(-1)
      if (typeof piece === 'string') {
        if (last?.kind === 'texts') last.texts.push(piece)
        else pieces.push({ kind: 'texts', texts: [piece] })
      } else if (last?.kind === 'deltas') last.deltas.push(piece)
      else pieces.push({ kind: 'deltas', deltas: [piece] })
    },
    next: () => pieces.shift(),
    get isEmpty() {
      return pieces.length === 0
    },
  }
}
