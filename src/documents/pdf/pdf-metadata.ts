import type { OpenPdf } from 'pdfmake'
import { escapeHtml } from '../../platform/docs/html.ts'

/**
 * Escapes the title and the author of a PDF in its XMP metadata: pdfkit writes them into the XML as they are. To be called
 * before the end of the document.
 */
export function escapeMetadata(pdf: OpenPdf): void {
  const endMetadata = pdf.endMetadata.bind(pdf)
  pdf.endMetadata = () => {
    // The dictionary of information, which needs no escapes, is complete by now.
    pdf.info = Object.fromEntries(
      Object.entries(pdf.info).map(([name, value]) => [name, typeof value === 'string' ? escapeHtml(value) : value]),
    )
    endMetadata()
  }
}
