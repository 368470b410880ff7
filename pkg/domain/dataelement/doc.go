// Package dataelement is the common part of providers of data elements: tables with one entry for
// each element, and the service that reads them by columns.
//
// A domain writes a [Table] over its rows, and a function that loads rows; [NewServer] turns them
// into the service that information access calls.
package dataelement
