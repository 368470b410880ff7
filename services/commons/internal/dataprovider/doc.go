// Package dataprovider serves the data elements of persons and locations to
// information access: the providers PEOPLE and LOCATION, and the rows that
// requests name.
//
// An element is one entry in a list of people_*.go or location_*.go. What an
// entry needs beside the row itself it says in bits, so that a reading asks the
// database only for what its elements are made of, in one round trip.
package dataprovider
