// Package dataelement is what providers of data elements have in common: tables
// of elements, in which one entry is everything there is to say of an element,
// and the service that reads them by columns.
//
// A domain writes a [Table] over what it loads of a row, and a function that
// loads rows; [NewServer] makes them the service that information access asks.
package dataelement
