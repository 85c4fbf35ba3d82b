// Tabs for what differs: a choice holds for all tabs of its kind, on this page and on the next ones.

/** @param {(changed: () => void) => void} onContentUpdated */
export function followChoices(onContentUpdated) {
  if (typeof document === 'undefined') return;
  onContentUpdated(showChoices);
  document.addEventListener('change', ({ target }) => {
    const kind = target instanceof HTMLInputElement && target.closest('.choice')?.getAttribute('data-choice');
    if (!kind) return;
    // The tab stays where it is in the window, although tabs above it get longer or shorter.
    const before = target.getBoundingClientRect().top;
    document.documentElement.dataset[kind] = target.value;
    keep(kind, target.value);
    showChoices();
    window.scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}

function showChoices() {
  for (const choice of document.querySelectorAll('.choice')) {
    const value = document.documentElement.dataset[choice.getAttribute('data-choice') ?? ''];
    for (const input of choice.querySelectorAll('input')) input.checked = input.value === value;
  }
}

/** @param {string} kind @param {string} value */
function keep(kind, value) {
  try {
    localStorage.setItem(`fullmcp-${kind}`, value);
  } catch {
    // Without storage the choice holds for this visit.
  }
}
