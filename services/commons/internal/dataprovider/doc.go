// Package dataprovider serves the data elements of persons and locations to information
// access: the providers PEOPLE and LOCATION, and the rows that requests name.
//
// An element is one entry in a list of people_*.go or location_*.go. An entry declares with
// bits the data that it needs beside the row itself, so that a read loads only the data of
// the requested elements, in one round trip.
package dataprovider
