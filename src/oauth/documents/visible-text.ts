/** Spaces of every width, line breaks and control characters. */
const GAPS = /[\p{Z}\p{Cc}]+/gu;
/** Characters that nobody sees, or that change the direction of the text around them. The last one is a blank letter. */
const HIDDEN = /[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** So many marks on one letter that they cover the lines around it. */
const PILES = /(\p{M}{3})\p{M}+/gu;

/** A peer's name for people, as it looks. Undefined if nothing of it can be seen. */
export function visibleText(text: string | undefined): string | undefined {
  const visible = text?.replace(HIDDEN, '').replace(GAPS, ' ').replace(PILES, '$1').trim();
  return visible === '' ? undefined : visible;
}
