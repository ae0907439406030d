// A journal of any size is replayed in pieces.
extension FileWindow: ReplaySource {}
