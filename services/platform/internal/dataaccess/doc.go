// Package dataaccess is information access: one operation that reads data
// elements of all domains for employees or locations, and the dictionary of the
// elements.
//
// It keeps no data. The domains serve providers (rotaloom.data.v1), each with
// its own elements and its own service limit; this package finds the rows,
// asks the providers side by side, and filters, groups, sorts and pages what
// they return. A provider that fails takes its own elements away and nothing
// else.
//
// Package query reads what is asked for, package catalogue knows the elements,
// package table works on the values, and package encoding writes them.
package dataaccess
