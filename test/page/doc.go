// Package page opens the operators' page of the real program in a real
// Chromium, as an operator does: it sends known traffic and reads every number
// back from the page, asks and clears by keyboard alone, and looks at the page
// in dark and light, wide and narrow. Nothing may be written to the console and
// no request may leave the service's own origin.
package page
