import { useEffect, useRef, useState } from 'react'
import classes from './documents.module.css'

/** The pixels that a preview has at most in each direction. */
const mostPixels = 1600

/** A picture, decoded by the browser and drawn on a canvas. */
export function Picture({ file, name }: { readonly file: Blob; readonly name: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isBroken, setIsBroken] = useState(false)
  useEffect(() => {
    let isLeft = false
    void (async () => {
      try {
        const picture = await createImageBitmap(file)
        const target = canvas.current
        if (target && !isLeft) draw(picture, target)
        picture.close()
      } catch {
        if (!isLeft) setIsBroken(true)
      }
    })()
    return () => {
      isLeft = true
    }
  }, [file])
  if (isBroken) return <p className={classes.note}>There is no preview: the browser cannot read this picture.</p>
  return (
    <canvas ref={canvas} className={classes.canvas}>
      {name}
    </canvas>
  )
}

function draw(picture: ImageBitmap, target: HTMLCanvasElement): void {
  const scale = Math.min(1, mostPixels / Math.max(picture.width, picture.height))
  target.width = Math.max(1, Math.round(picture.width * scale))
  target.height = Math.max(1, Math.round(picture.height * scale))
  target.getContext('2d')?.drawImage(picture, 0, 0, target.width, target.height)
}
