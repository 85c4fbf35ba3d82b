// Styles that a component imports; Vite puts them into the page.
declare module '*.css';
