// Threads that share the loops of one thread.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace grampus {

// Whoever is there takes the next piece. The loop never waits for a thread that has not come to help.
class Team {
  public:
    // Call piece(p) once for each p in 0 … pieces − 1, in this thread and in those that help; return when all are done.
    void share(int64_t pieces, const std::function<void(int64_t)>& piece);
    // Call loop(first, last) for ranges of 0 … n − 1, each of `step` but for the last.
    void share(int64_t n, int64_t step, const std::function<void(int64_t, int64_t)>& loop);
    // Help with every loop until the team is dismissed.
    void help();
    void dismiss();

  private:
    void work(std::unique_lock<std::mutex>& held);

    std::mutex lock_;
    std::condition_variable called_, done_;
    const std::function<void(int64_t)>* piece_ = nullptr;
    std::exception_ptr error_;
    int64_t pieces_ = 0, next_ = 0, busy_ = 0;
    bool over_ = false;
};

}  // namespace grampus
