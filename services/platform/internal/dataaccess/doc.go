// Package dataaccess implements information access: an operation that reads data elements of all domains for
// employees or locations, and the dictionary of the elements.
//
// It stores no data. The domains serve providers (rotaloom.data.v1), each with its own elements and service
// limit. This package finds the rows, asks the providers concurrently, and filters, groups, sorts and pages
// their values. If a provider fails, only its own elements are missing.
//
// Package query parses the requests, package catalogue knows the elements, package table processes the values,
// and package encoding writes them.
package dataaccess
