#include "team.hpp"

#include <algorithm>
#include <utility>

namespace grampus {

void Team::work(std::unique_lock<std::mutex>& held) {
    while (next_ < pieces_) {
        const int64_t p = next_++;
        ++busy_;
        held.unlock();
        std::exception_ptr error;
        try {
            (*piece_)(p);
        } catch (...) {
            error = std::current_exception();
        }
        held.lock();
        if (error) error_ = error, next_ = pieces_;
        if (--busy_ == 0 && next_ == pieces_) done_.notify_all();
    }
}

void Team::share(int64_t pieces, const std::function<void(int64_t)>& piece) {
    std::unique_lock<std::mutex> held(lock_);
    piece_ = &piece, pieces_ = pieces, next_ = 0, error_ = nullptr;
    if (pieces > 1) called_.notify_all();
    work(held);
    done_.wait(held, [this] { return busy_ == 0; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::share(int64_t n, int64_t step, const std::function<void(int64_t, int64_t)>& loop) {
    share((n + step - 1) / step, [&](int64_t p) { loop(p * step, std::min(n, (p + 1) * step)); });
}

void Team::help() {
    std::unique_lock<std::mutex> held(lock_);
    while (!over_) {
        work(held);
        called_.wait(held, [this] { return over_ || next_ < pieces_; });
    }
}

void Team::dismiss() {
    const std::lock_guard<std::mutex> held(lock_);
    over_ = true;
    called_.notify_all();
}

}  // namespace grampus
