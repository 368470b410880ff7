// Package encoding writes a Window, the entries that a reading found, as the
// bytes of a Schedule.
//
// The entries of a pattern are compiled once into the bytes of the message, with
// placeholders for what differs from day to day, and writing fills them. No message
// is built for a generated entry: the bytes travel as the unknown fields of the
// typed message, and every gRPC client decodes them as usual.
package encoding
